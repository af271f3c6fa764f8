"""Tables that the statement itself lists: VALUES, generate_series, range and unnest of constants.

They are nobody's secret, and public as a public table of the schema is: joined to private rows they
list group keys, and as the left side of an outer join each of their rows has its group.
"""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Iterator

from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.expression.interval_literal import length
from dpsql.bind.scope import Scope
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, SyntaxFault, TooComplex
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.duration import Duration
from dpsql.plan.expression import Expression, Literal, Scalar
from dpsql.plan.operator import Aggregate, Plan, Values
from dpsql.schema.sql_type import BIGINT, Date, Integer, SqlType, Timestamp

MAX_ROWS = 10_000


def one_row(context: Context) -> Plan:
    """The one row that SELECT without FROM reads: the count of no rows."""
    return row_count(Values((), ()), context)


def row_count(rows: Plan, context: Context) -> Plan:
    """How many `rows` there are, in one row."""
    call = AggregateCall(AggregateFunction.COUNT, (), False, None, BIGINT)
    count = AggregateOutput(context.names.column("rows", BIGINT), call)
    return Aggregate(rows, (), (count,))


def constant_rows(node: exp.Expr, context: Context) -> BoundQuery | None:
    """The rows that `node` lists; None if it isn't a table of constants."""
    match node:
        case exp.Values():
            require_args(node, "expressions", "alias")
            return _values(node, context)
        case exp.Table(this=exp.GenerateSeries() as series):
            require_args(node, "this", "alias")
            return _column(node, _name(series), *_series(series, context), context)
        case exp.Unnest(expressions=[exp.GenerateSeries() as series]):
            require_args(node, "expressions", "alias")
            return _column(node, "unnest", *_series(series, context), context)
        case exp.Unnest(expressions=[exp.Array(expressions=[*listed])]) if listed:
            require_args(node, "expressions", "alias")
            values, kind = _unified(listed, context)
            return _column(node, "unnest", values, kind, context)
        case _:
            return None


def unnested(node: exp.Select) -> exp.Select:
    """`node`, if it is SELECT unnest(series) without FROM, as SELECT column FROM unnest(series)."""
    if node.args.get("from_") is not None:
        return node
    calls = [call for item in node.expressions for call in item.find_all(exp.Explode)]
    if len(calls) != 1 or not isinstance(calls[0].this, exp.GenerateSeries | exp.Array):
        return node
    rows = exp.to_identifier("unnested")
    select = node.copy()
    for index, item in enumerate(node.expressions):
        if not isinstance(item, exp.Alias) and item.find(exp.Explode):
            shown = item.sql(dialect="duckdb", normalize_functions="lower", comments=False)
            select.expressions[index].replace(exp.alias_(item.copy(), shown, quoted=True))
    (call,) = (c for item in select.expressions for c in item.find_all(exp.Explode))
    alias = exp.TableAlias(this=rows, columns=[rows.copy()])
    table = exp.Unnest(expressions=[call.this], alias=alias)
    call.replace(exp.column(rows.copy()))
    select.set("from_", exp.From(this=table))
    return select


def _values(node: exp.Values, context: Context) -> BoundQuery:
    rows = [r.expressions if isinstance(r, exp.Tuple) else [r] for r in node.expressions]
    _check_number(len(rows), node)
    if len({len(row) for row in rows}) != 1:
        raise SyntaxFault("the rows of VALUES have different numbers of columns", at=span(node))
    columns = [_unified([row[index] for row in rows], context) for index in range(len(rows[0]))]
    alias = node.args.get("alias")
    aliases = [] if alias is None else [column.name for column in alias.args.get("columns") or []]
    names = tuple(dict(enumerate(aliases)).get(n, f"col{n}") for n in range(len(columns)))
    kinds = (kind for _, kind in columns)
    outputs = tuple(map(context.names.column, names, kinds))
    return BoundQuery(
        Values(outputs, tuple(zip(*(values for values, _ in columns), strict=True))), names
    )


def _column(
    node: exp.Expr, name: str, values: list[Scalar], kind: SqlType, context: Context
) -> BoundQuery:
    """One column of `values`, which is named as its table is, or else `name`."""
    _check_number(len(values), node)
    alias = node.args.get("alias")
    if alias is not None and alias.name:
        name = alias.name
    column = context.names.column(name, kind)
    return BoundQuery(Values((column,), tuple((value,) for value in values)), (name,))


def _name(series: exp.GenerateSeries) -> str:
    return "range" if series.args.get("is_end_exclusive") else "generate_series"


def _unified(nodes: list[exp.Expr], context: Context) -> tuple[list[Scalar], SqlType]:
    """The constants `nodes`, converted to their common type, and this type."""
    bound = _binder(context).unified(nodes)
    values = [_constant(e, node).value for e, node in zip(bound, nodes, strict=True)]
    return values, bound[0].type


def _binder(context: Context) -> ExpressionBinder:
    return ExpressionBinder(Scope(), lambda _: None, context.parameters)


def _constant(expression: Expression, node: exp.Expr) -> Literal:
    if isinstance(expression, Literal):
        return expression
    raise Refused(
        "a table that the statement lists is made of constants",
        at=span(node),
        hint="write VALUES (1, 'a'), (2, 'b')",
        note="constant_tables",
    )


def _series(node: exp.GenerateSeries, context: Context) -> tuple[list[Scalar], SqlType]:
    require_args(node, "start", "end", "step", "is_end_exclusive")
    binder = _binder(context)
    first, last = (_constant(binder.bind(node.args[end]), node) for end in ("start", "end"))
    step = node.args.get("step")
    inclusive = not node.args.get("is_end_exclusive")
    kinds = (first.type, last.type)
    if all(isinstance(kind, Integer) and kind.bits <= 64 for kind in kinds):
        by = Literal(1, BIGINT) if step is None else _constant(binder.bind(step), node)
        if isinstance(by.type, Integer):
            numbers = _numbers(first.value, last.value, by.value, node, inclusive=inclusive)
            return numbers, BIGINT
    if step is not None and all(isinstance(kind, Date | Timestamp) for kind in kinds):
        duration = _step(step, binder, node)
        moments = _moments(_moment(first), _moment(last), duration, node, inclusive=inclusive)
        return list(moments), Timestamp()
    raise Refused(
        f"a series from {kinds[0]} to {kinds[1]}",
        at=span(node),
        hint="write generate_series(1, 10), or generate_series(DATE '2024-01-01', DATE "
        "'2024-12-31', INTERVAL 1 DAY)",
        note="constant_tables",
    )


def _numbers(
    first: Scalar, last: Scalar, by: Scalar, node: exp.Expr, *, inclusive: bool
) -> list[Scalar]:
    if not (isinstance(first, int) and isinstance(last, int) and isinstance(by, int)):
        return []  # of NULL, no row
    if by == 0:
        raise SyntaxFault("a series with a step of 0 has no end", at=span(node))
    numbers = range(first, last + (0 if not inclusive else 1 if by > 0 else -1), by)
    # len() knows no number beyond a machine word.
    _check_number(MAX_ROWS + 1 if numbers[MAX_ROWS:] else len(numbers), node)
    return list(numbers)


def _step(step: exp.Expr, binder: ExpressionBinder, node: exp.Expr) -> Duration:
    """A constant length of time, all of it forwards or all of it back."""
    interval = length(step)
    duration = None if interval is None or interval.count is not None else interval.duration
    if interval is None:
        text = _constant(binder.bind(step), node).value
        duration = Duration.read(text) if isinstance(text, str) else None
    parts = (0,) if duration is None else duration.parts
    if duration is not None and any(parts) and (min(parts) >= 0 or max(parts) <= 0):
        return duration
    raise unsupported(node, "this step of a series", hint="write INTERVAL 1 DAY")


def _moment(literal: Literal) -> dt.datetime | None:
    value = literal.value
    if isinstance(value, dt.datetime) or value is None:
        return value
    assert isinstance(value, dt.date)
    return dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001 - SQL's has no zone


def _moments(
    first: dt.datetime | None,
    last: dt.datetime | None,
    by: Duration,
    node: exp.Expr,
    *,
    inclusive: bool,
) -> Iterator[dt.datetime]:
    """Each moment is a step from the one before: from 31 January to 29 February, to 29 March."""
    forwards = max(by.parts) > 0
    count = 0
    while first is not None and last is not None:
        over = first > last if forwards else first < last
        if over or (first == last and not inclusive):
            return
        count += 1
        _check_number(count, node)
        yield first
        first = _after(first, by)


def _after(moment: dt.datetime, by: Duration) -> dt.datetime | None:
    """The moment `by` after `moment`; None beyond the years that there are."""
    months = moment.year * 12 + moment.month - 1 + by.months
    year, month = divmod(months, 12)
    try:
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        same_time = moment.replace(year=year, month=month + 1, day=day)
        return same_time + dt.timedelta(days=by.days, microseconds=by.microseconds)
    except (ValueError, OverflowError):
        return None


def _check_number(rows: int, node: exp.Expr) -> None:
    if rows > MAX_ROWS:
        raise TooComplex(
            f"a table that the statement lists has more than {MAX_ROWS:,} rows",
            at=span(node),
            hint="list fewer, or declare a public table",
        )
