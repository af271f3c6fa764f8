"""SUGGEST BOUNDS column FROM table: bounds and limits to declare, as a release that is paid for.

Each unit's lowest and highest value and its number of rows are rounded outwards to powers of two,
and coded as integers. The suggestions are quantiles of these codes over all units, which leave out
one unit in twenty. The grid goes from 2^-40 to 2^80 whatever the data are. The suggestions are
noisy, and public from then on.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot.tokenizer_core import Token

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.column_ids import Names
from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.from_clause.table import find_named
from dpsql.bind.syntax.parse import parse_query
from dpsql.errors import Refused, Span, SyntaxFault, UnknownColumn
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.expression import Column
from dpsql.plan.operator import Aggregate, Plan, Project, Scan
from dpsql.plan.traversal import bottom_up, columns, operators
from dpsql.schema.model import Limits
from dpsql.schema.sql_type import BIGINT, Decimal, Double, Integer

MAX_ROWS = 2**20
"""The grid's end for a unit's rows: beyond any limit that a schema would declare."""

_CODES = """
SELECT CASE WHEN code BETWEEN -121 AND 121 THEN code END AS code FROM (
  SELECT CAST(CASE WHEN x > 0 THEN ceil(log2(x)) + 41
                   WHEN x < 0 THEN -ceil(log2(-x)) - 41 ELSE 0 END AS INTEGER) AS code
  FROM (SELECT CAST({column} AS DOUBLE) AS x FROM {table}) t) t
"""
"""Powers of two by their exponents: 2^k is k + 41 and -2^k is -(k + 41), in the order of values."""

_CHOSEN = """
SELECT quantile_disc(low, 0.025) AS low, quantile_disc(high, 0.975) AS high,
  quantile_disc(CASE WHEN n >= 1 THEN CAST(ceil(log2(n)) AS INTEGER) END, 0.95) AS n
FROM units
"""

_SHOWN = """
SELECT {name} AS "column",
  CASE WHEN low > 0 THEN power(2, low - 42) WHEN low < 0 THEN -power(2, -low - 41) ELSE 0 END
    AS dp_low,
  CASE WHEN high > 0 THEN power(2, high - 41) WHEN high < 0 THEN -power(2, -high - 42) ELSE 0 END
    AS dp_high,
  CAST(power(2, n) AS BIGINT) AS dp_rows
FROM chosen
"""


def is_suggestion(words: list[Token]) -> bool:
    """Whether the statement begins with SUGGEST BOUNDS."""
    return [word.text.casefold() for word in words[:2]] == ["suggest", "bounds"]


def suggestion(words: list[Token], context: Context) -> BoundQuery:
    """The plan of SUGGEST BOUNDS: one row with noisy bounds of a column and rows of a unit."""
    table, column = _requested_column(words, context)
    codes = _bound(_CODES.format(column=_quoted(column), table=_quoted(table)), context)
    grid = bottom_up(_unbounded, codes.plan)
    units = _per_unit(replace(codes, plan=grid), context)
    chosen = _bound(_CHOSEN, context.with_cte("units", Cte(None, context, (), units)))
    name = "'" + f"{table}.{column}".replace("'", "''") + "'"
    named = context.with_cte("chosen", Cte(None, context, (), chosen))
    return _bound(_SHOWN.format(name=name), named)


def _requested_column(words: list[Token], context: Context) -> tuple[str, str]:
    """The declared names of the table or view, and of its column, that the statement names."""
    texts = [word.text for word in words if word.text != ";"]
    if len(texts) != 5 or texts[3].casefold() != "from":
        raise SyntaxFault(
            "SUGGEST BOUNDS isn't written so",
            at=Span(words[0].start, words[-1].end + 1),
            hint="write SUGGEST BOUNDS column FROM table",
        )
    at = Span(words[2].start, words[2].end + 1)
    table = find_named(context, (texts[4],), Span(words[4].start, words[4].end + 1)).name
    own_ids = replace(context, names=Names())
    rows = _bound(f"SELECT * FROM {_quoted(table)}", own_ids)  # noqa: S608 - a declared name
    if visibility(rows.plan) is not Visibility.PRIVATE:
        raise Refused(
            f"{table} is public: its bounds are no secret",
            at=at,
            hint=f"SELECT min({texts[2]}), max({texts[2]}) FROM {table}",  # noqa: S608
            note="suggest_bounds",
        )
    for name, column in zip(rows.names, rows.columns, strict=True):
        if name.casefold() == texts[2].casefold():
            if not isinstance(column.type, Integer | Decimal | Double):
                raise Refused(
                    f"{name} is no number",
                    at=at,
                    hint="days and moments have bounds that its owner knows",
                    note="suggest_bounds",
                )
            if _is_randomized(rows.plan, column):
                raise Refused(
                    f"{name} holds randomised answers: its bounds are those of what was asked",
                    at=at,
                    hint=f"ask for sum({name}), or count(*) FILTER (WHERE {name} = …)",
                    note="suggest_bounds",
                )
            return table, name
    raise UnknownColumn(
        f"there is no column {texts[2]} in {table}",
        at=at,
        hint=f"columns: {', '.join(rows.names)}",
    )


def _is_randomized(plan: Plan, column: Column) -> bool:
    """Whether `column` is computed from a column that was randomized before it reached dpsql."""
    parts = list(operators(plan))
    computed = {o.column: o.expression for p in parts if isinstance(p, Project) for o in p.outputs}
    randomized = {
        read
        for part in parts
        if isinstance(part, Scan)
        for read in part.columns
        if part.table.columns[read.name].local_epsilon is not None
    }
    pending, seen = {column}, set[Column]()
    while pending:
        each = pending.pop()
        seen.add(each)
        if each in computed:
            pending |= columns(computed[each]) - seen
    return not randomized.isdisjoint(seen)


def _per_unit(codes: BoundQuery, context: Context) -> BoundQuery:
    """Each unit's lowest and highest code, and its number of rows; a row unit is one row."""
    (code,) = codes.columns
    names = context.names

    def output(name: str, function: AggregateFunction) -> AggregateOutput:
        counted = function is AggregateFunction.COUNT
        kind = BIGINT if counted else code.type
        call = AggregateCall(function, () if counted else (code,), False, None, kind)
        return AggregateOutput(names.column(name, kind), call)

    outputs = (
        output("low", AggregateFunction.MIN),
        output("high", AggregateFunction.MAX),
        output("n", AggregateFunction.COUNT),
    )
    # Private rows are grouped by their unit, and here by nothing else.
    return BoundQuery(Aggregate(codes.plan, (), outputs), ("low", "high", "n"))


def _unbounded(plan: Plan) -> Plan:
    """`plan` without declared bounds and limits: they are what the suggestions are for."""
    if isinstance(plan, Project):
        return replace(plan, outputs=tuple(replace(o, declared=None) for o in plan.outputs))
    if not isinstance(plan, Scan):
        return plan
    limits = Limits(groups=MAX_ROWS, rows_per_group=MAX_ROWS, rows=MAX_ROWS)
    loose = {
        # The values of a randomized column are its mechanism's, and no suggestion changes them.
        name: column
        if column.local_epsilon is not None
        else replace(column, bounds=None, values=None)
        for name, column in plan.table.columns.items()
    }
    return replace(plan, table=replace(plan.table, limits=limits, columns=loose))


def _bound(sql: str, context: Context) -> BoundQuery:
    return context.bind_query(parse_query(sql), context.subquery_context(None))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
