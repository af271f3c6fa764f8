"""CREATE SYNOPSIS … ON a query of keys: the release that counts the rows of each combination."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.query.query import bind_query, statement_context
from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.statement import Statement
from dpsql.bind.syntax.complexity import check_nesting
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import parse_query, tokens
from dpsql.bind.syntax.placeholder import as_written
from dpsql.errors import Error, Refused, Span
from dpsql.plan.operator import Output, Plan, Project, Release
from dpsql.plan.output_columns import output_columns
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import Double
from dpsql.structs import replace

COUNT_COLUMN = "count"
"""The column of a synopsis after its keys: the estimated number of rows in a cell."""

_OTHER_CLAUSES = ("distinct", "having", "windows", "qualify", "order", "limit", "offset")


def bind_synopsis(
    sql: str, schema: Schema, parameters: Parameters, releases: SavedReleaseNames
) -> Statement:
    """The plan of `SELECT k1, k2 FROM … [WHERE …] [GROUP BY …]`, with a count after the keys.

    The count is a DOUBLE: an estimate of a fraction of a row in each of many cells adds up.
    """
    try:
        tree = parse_query(sql, words=tokens(sql))
        if not isinstance(tree, exp.Select) or any(tree.args.get(name) for name in _OTHER_CLAUSES):
            raise _shape()
        if not tree.args.get("group"):
            ordinals = [exp.Literal.number(n) for n in range(1, len(tree.expressions) + 1)]
            tree.set("group", exp.Group(expressions=ordinals))
        counted = exp.alias_(exp.Count(this=exp.Star()), COUNT_COLUMN, quoted=True)
        tree.append("expressions", counted)
        context = statement_context(schema, parameters, releases)
        selected = bind_query(tree, context)
        check_nesting(selected.plan)
        whole = _counted(selected.plan)
    except Error as error:
        error.at = query_span(sql) if error.at is None else as_written(error.at, tokens(sql))
        raise
    single = tuple(context.single)
    return Statement(whole, output_columns(whole), selected.names, single=single)


def query_span(sql: str) -> Span:
    """The place of the query in `sql`, after blanks."""
    return Span(len(sql) - len(sql.lstrip()), len(sql))


def _counted(plan: Plan) -> Project:
    """`plan`, of keys and their count, with a DOUBLE for the count; Refused if it is another."""
    if not isinstance(plan, Project) or not isinstance(plan.source, Release):
        raise _shape()
    release = plan.source
    keys = [key.column for key in release.keys]
    if len(release.aggregates) != 1 or [o.expression for o in plan.outputs[:-1]] != keys:
        raise _shape()
    (aggregate,) = release.aggregates
    estimated = replace(aggregate, column=replace(aggregate.column, type=Double()))
    last = plan.outputs[-1]
    count = Output(replace(last.column, type=Double()), estimated.column)
    return Project(replace(release, aggregates=(estimated,)), (*plan.outputs[:-1], count))


def _shape() -> Refused:
    return Refused(
        "a synopsis is of the rows with each combination of some keys",
        hint="CREATE SYNOPSIS name ON SELECT k1, k2 FROM … WHERE … WITH (epsilon = 0.5)",
        note="synopsis",
    )
