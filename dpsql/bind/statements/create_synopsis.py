"""CREATE SYNOPSIS … ON a query of keys and sums: the release of each combination of the keys."""

from __future__ import annotations

from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.query.query import bind_query, statement_context
from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import Statement
from dpsql.bind.statements.create_dashboard import named_value
from dpsql.bind.syntax.complexity import check_nesting
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import parse_query, tokens
from dpsql.bind.syntax.placeholder import as_written
from dpsql.errors import Error, Refused, Span
from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan, Project, Release
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import Double
from dpsql.structs import replace

COUNT_COLUMN = "count"
"""The column of a synopsis after its keys: the estimated number of rows in a cell."""

_OTHER_CLAUSES = ("distinct", "having", "windows", "qualify", "order", "limit", "offset")


def bind_synopsis(
    sql: str, schema: Schema, parameters: Parameters, releases: SavedReleaseNames
) -> Statement:
    """The plan of `SELECT k1, k2, sum(x) FROM … [WHERE …] [GROUP BY …]`, with a count at the end.

    Counts and sums are DOUBLEs: estimates of a fraction of a row in each of many cells add up.
    """
    try:
        tree = parse_query(sql, words=tokens(sql))
        if not isinstance(tree, exp.Select) or any(tree.args.get(name) for name in _OTHER_CLAUSES):
            raise _shape()
        written = [one.unalias() for one in tree.expressions]
        if any(isinstance(one, exp.Count) and isinstance(one.this, exp.Star) for one in written):
            raise Refused(
                "a synopsis counts the rows of each combination of its keys anyway",
                hint=f"leave count(*) out: its table has a column {COUNT_COLUMN}",
                note="synopsis",
            )
        is_value = [_is_aggregated(one, tree) for one in written]
        if all(is_value):
            raise _shape()
        if not tree.args.get("group"):
            ordinals = [exp.Literal.number(n) for n, v in enumerate(is_value, start=1) if not v]
            tree.set("group", exp.Group(expressions=ordinals))
        tree.set(
            "expressions",
            [
                named_value(one) if value and not isinstance(one, exp.Alias) else one
                for one, value in zip(tree.expressions, is_value, strict=True)
            ],
        )
        counted = exp.alias_(exp.Count(this=exp.Star()), COUNT_COLUMN, quoted=True)
        tree.append("expressions", counted)
        context = statement_context(schema, parameters, releases)
        selected = bind_query(tree, context)
        check_nesting(selected.plan)
        if visibility(selected.plan) is Visibility.PRIVATE:
            raise _of_single_units(tree)
        whole = _estimated(selected.plan)
    except Error as error:
        error.at = query_span(sql) if error.at is None else as_written(error.at, tokens(sql))
        raise
    return Statement.bound(whole, selected.names, context)


def query_span(sql: str) -> Span:
    """The place of the query in `sql`, after blanks."""
    return Span(len(sql) - len(sql.lstrip()), len(sql))


def _estimated(plan: Plan) -> Project:
    """`plan`, of keys and aggregates, with a DOUBLE for each of these; Refused if it is another."""
    if not isinstance(plan, Project) or not isinstance(plan.source, Release):
        raise _shape()
    release = plan.source
    columns = [key.column for key in release.keys]
    columns += [aggregate.column for aggregate in release.aggregates]
    shown = [output.expression for output in plan.outputs]
    if len(shown) != len(columns) or any(column not in shown for column in columns):
        raise _shape()
    estimates = {
        one.column: replace(one, column=replace(one.column, type=Double()))
        for one in release.aggregates
    }
    outputs = tuple(
        replace(output, column=replace(output.column, type=Double()), expression=of.column)
        if isinstance(output.expression, Column) and (of := estimates.get(output.expression))
        else output
        for output in plan.outputs
    )
    return Project(replace(release, aggregates=tuple(estimates.values())), outputs)


def _is_aggregated(item: exp.Expr, tree: exp.Select) -> bool:
    """It aggregates rows of `tree`, and not those of a subquery alone."""
    return any(call.parent_select is tree for call in item.find_all(exp.AggFunc))


def _of_single_units(tree: exp.Select) -> Refused:
    """Why keys that tell whose rows they are make no synopsis; what can be asked of them."""
    keys = [one.unalias() for one in tree.expressions if not _is_aggregated(one, tree)]
    counted = exp.select("least(count(*), 20) AS n", dialect="duckdb").group_by(*keys)
    for clause in ("from_", "joins", "where"):
        counted.set(clause, tree.args.get(clause))
    return Refused(
        "these keys tell whose rows they are: each row of this synopsis would be of one unit alone",
        hint="leave out the key that tells the unit; or keep how many of them have so many rows: "
        + exp.select("n").from_(counted.subquery("units")).sql(dialect="duckdb"),
        note="synopsis",
    )


def _shape() -> Refused:
    return Refused(
        "a synopsis is of the rows with each combination of some keys, each of them once",
        hint="write CREATE SYNOPSIS name ON SELECT k1, k2, sum(x) FROM … WHERE …"
        " WITH (epsilon = 0.5)",
        note="synopsis",
    )
