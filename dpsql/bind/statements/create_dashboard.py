"""CREATE DASHBOARD … AS (chart; chart; …): one release of all their keys and values.

    SELECT sex, count(*) FROM patients GROUP BY sex;
    SELECT ward, sex, count(*) AS n FROM patients GROUP BY ward, sex
becomes SELECT sex, ward, count(*) AS count FROM patients GROUP BY sex, ward, with what each chart
has of it. Each chart is bound by itself first, so that it is refused where it would be as a query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.query.query import bind_query, statement_context
from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import Statement
from dpsql.bind.syntax.complexity import check_nesting
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import parse_query, tokens
from dpsql.bind.syntax.placeholder import as_written
from dpsql.errors import BadParameter, Error, Refused, Span
from dpsql.plan.chart import Chart
from dpsql.plan.operator import Plan, Project, Release
from dpsql.plan.traversal import operators
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import Double
from dpsql.sqltext.split import Piece, split
from dpsql.structs import replace

MAX_CHARTS = 200
"""A dashboard has at most so many."""

_ORDER_CLAUSES = ("order", "limit", "offset")
_OTHER_CLAUSES = ("distinct", "having", "windows", "qualify", *_ORDER_CLAUSES)
_FORM = "CREATE DASHBOARD name AS (SELECT k1, count(*) FROM … GROUP BY k1; SELECT …)"


class _Written(Struct, frozen=True):
    """A chart as it was written: its tree, its keys and its values, by what they are without AS."""

    tree: exp.Select
    keys: tuple[exp.Expr, ...]
    values: tuple[exp.Expr, ...]

    @property
    def rows(self) -> exp.Expr:
        """What it is asked of: all but what it selects, and by what it groups."""
        rest = self.tree.copy()
        rest.set("expressions", [])
        rest.set("group", None)
        return rest


def bind_dashboard(
    sql: str, schema: Schema, parameters: Parameters, releases: SavedReleaseNames
) -> Statement:
    """The plan of all charts in `sql`, with a DOUBLE for each value: their estimates add up.

    Raises `dpsql.errors.Error` for a chart that would be refused as a query, for charts of
    different rows, and for what is no count or sum by keys.
    """
    if parameters:
        raise BadParameter("CREATE DASHBOARD takes no parameters", hint="write the values out")
    pieces = split(sql)
    if not 0 < len(pieces) <= MAX_CHARTS:
        raise Refused(
            f"a dashboard has from 1 to {MAX_CHARTS} charts",
            at=Span(len(sql) - len(sql.lstrip()), len(sql.rstrip())),
            hint=f"write {_FORM}",
            note="dashboard",
        )
    charts: list[_Written] = []
    for piece in pieces:
        with _Placed(piece):
            chart = _read(piece.sql)
            _bound_alone(chart, schema, parameters, releases)
            if charts and chart.rows != charts[0].rows:
                raise Refused(
                    "the charts of a dashboard are of the same rows, and this one has another FROM"
                    " or WHERE",
                    hint="make what it filters by a key, or it a dashboard of its own",
                    note="dashboard",
                )
            charts.append(chart)
    keys = _distinct(chart.keys for chart in charts)
    values = _distinct(chart.values for chart in charts)
    whole = charts[0].tree.copy()
    whole.set("expressions", [_named(one, charts) for one in (*keys, *values)])
    whole.set("group", None)
    if keys:
        ordinals = [exp.Literal.number(n) for n in range(1, len(keys) + 1)]
        whole.set("group", exp.Group(expressions=ordinals))
    with _Placed(Piece(sql, 0)):
        context = statement_context(schema, parameters, releases)
        selected = bind_query(whole, context)
        check_nesting(selected.plan)
        plan = _estimated(selected.plan, selected.names)
    assert isinstance(plan.source, Release)
    key_columns = [key.column for key in plan.source.keys]
    value_columns = [value.column for value in plan.source.aggregates]
    shown = tuple(
        Chart(
            tuple(key_columns[keys.index(key)] for key in chart.keys),
            tuple(value_columns[values.index(value)] for value in chart.values),
        )
        for chart in charts
    )
    return Statement.bound(plan, selected.names, context, charts=shown)


class BareChart(Struct, frozen=True):
    """A query as a chart of a dashboard, without what only orders or cuts its rows.

    `rows` is what it is asked of, in words that charts of one dashboard share.
    """

    sql: str
    rows: str


def bare_chart(sql: str) -> BareChart | None:
    """`sql` as a chart; None if it isn't written as one, or isn't a query at all."""
    try:
        tree = parse_query(sql, words=tokens(sql))
        for clause in _ORDER_CLAUSES:
            tree.set(clause, None)
        text = tree.sql(dialect="duckdb", comments=False)
        return BareChart(text, _read(text).rows.sql(dialect="duckdb", comments=False))
    except Error:
        return None


class _Placed:
    """Gives an error of one chart its place among all of them."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, Error):
            sql, start = self._piece.sql, self._piece.start
            inside = Span(len(sql) - len(sql.lstrip()), len(sql.rstrip()))
            at = inside if error.at is None else as_written(error.at, tokens(sql))
            error.at = Span(start + at.start, start + at.end)


def _read(sql: str) -> _Written:
    tree = parse_query(sql, words=tokens(sql))
    if not isinstance(tree, exp.Select) or any(tree.args.get(name) for name in _OTHER_CLAUSES):
        raise _shape()
    bare = [one.unalias() for one in tree.expressions]
    keys = tuple(one for one in bare if one.find(exp.AggFunc) is None)
    values = tuple(one for one in bare if one.find(exp.AggFunc) is not None)
    if not values:
        raise _shape()
    return _Written(tree, keys, values)


def _bound_alone(
    chart: _Written, schema: Schema, parameters: Parameters, releases: SavedReleaseNames
) -> None:
    """Refuse what would be refused as a query, and a chart that doesn't show all of its keys."""
    plan = bind_query(chart.tree.copy(), statement_context(schema, parameters, releases)).plan
    check_nesting(plan)
    if not isinstance(plan, Project) or not isinstance(plan.source, Release):
        raise _shape()
    if any(isinstance(part, Release) for part in operators(plan.source.source)):
        raise Refused(
            "a chart of a dashboard is of the rows of tables, not of what was released of them",
            hint="CREATE RELEASE keeps that, and what is asked of it is free",
            note="dashboard",
        )
    shown = {output.expression for output in plan.outputs}
    if any(key.column not in shown for key in plan.source.keys):
        raise Refused(
            "a chart of a dashboard shows all keys that it groups by",
            hint="select them, too: SELECT k1, k2, count(*) FROM … GROUP BY k1, k2",
            note="dashboard",
        )


def _distinct(lists: Iterator[Sequence[exp.Expr]]) -> list[exp.Expr]:
    distinct: list[exp.Expr] = []
    for each in lists:
        distinct += [one for one in each if one not in distinct]
    return distinct


def _named(bare: exp.Expr, charts: Sequence[_Written]) -> exp.Expr:
    """`bare` under the first name that a chart gives it, or one that needs no quotes."""
    for chart in charts:
        for one in chart.tree.expressions:
            if isinstance(one, exp.Alias) and one.this == bare:
                return one.copy()
    return named_value(bare)


def named_value(bare: exp.Expr) -> exp.Expr:
    """`bare`, a count or a sum of a column, under a name that needs no quotes."""
    match bare:
        case exp.Count(this=exp.Star()):
            return exp.alias_(bare.copy(), "count", quoted=True)
        case exp.Count(this=exp.Column() as argument):
            return exp.alias_(bare.copy(), f"count_{argument.name}", quoted=True)
        case exp.Sum(this=exp.Column() as argument):
            return exp.alias_(bare.copy(), f"sum_{argument.name}", quoted=True)
        case _:
            return bare.copy()


def _estimated(plan: Plan, names: Sequence[str]) -> Project:
    """`plan`, of keys and aggregates, each of these a DOUBLE with its name among `names`.

    Refused if it is another.
    """
    if not isinstance(plan, Project) or not isinstance(plan.source, Release):
        raise _shape()
    release = plan.source
    columns = [key.column for key in release.keys]
    columns += [aggregate.column for aggregate in release.aggregates]
    if [output.expression for output in plan.outputs] != columns:
        raise _shape()
    estimates = tuple(
        replace(one, column=replace(one.column, name=name, type=Double()))
        for one, name in zip(release.aggregates, names[len(release.keys) :], strict=True)
    )
    outputs = list(plan.outputs[: len(release.keys)])
    for output, estimate in zip(plan.outputs[len(release.keys) :], estimates, strict=True):
        outputs.append(
            replace(
                output,
                column=replace(output.column, type=Double()),
                expression=estimate.column,
            )
        )
    return Project(replace(release, aggregates=estimates), tuple(outputs))


def _shape() -> Refused:
    return Refused(
        "a chart of a dashboard counts or sums rows by keys, and nothing else",
        hint=f"write {_FORM}",
        note="dashboard",
    )
