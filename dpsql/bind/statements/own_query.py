"""Queries that dpsql writes itself, over plans that stand for tables in them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.syntax.parse import parse_query
from dpsql.plan.expression import Expression
from dpsql.plan.operator import Output, Project


def bind_text(sql: str, context: Context) -> BoundQuery:
    """The plan of our own `sql`: a query of its own, whatever stands around it."""
    return context.bind_query(parse_query(sql), context.subquery_context(None))


def with_query(name: str, query: BoundQuery, context: Context) -> Context:
    """The context in which `name` is a table of the rows of `query`."""
    return context.with_cte(name, Cte(None, context, (), query))


def computed(
    rows: BoundQuery, expressions: Mapping[str, Expression], context: Context
) -> BoundQuery:
    """`expressions` of the columns of `rows`, by their names."""
    names = context.names
    outputs = [Output(names.column(name, e.type), e) for name, e in expressions.items()]
    return BoundQuery(Project(rows.plan, tuple(outputs)), tuple(expressions))


def quoted_text(value: str) -> str:
    """`value` as a literal of our own SQL."""
    return "'" + value.replace("'", "''") + "'"
