"""Queries that dpsql writes itself, over plans that stand for tables in them."""

from __future__ import annotations

from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.syntax.parse import parse_query


def bind_text(sql: str, context: Context) -> BoundQuery:
    """The plan of our own `sql`: a query of its own, whatever stands around it."""
    return context.bind_query(parse_query(sql), context.subquery_context(None))


def with_query(name: str, query: BoundQuery, context: Context) -> Context:
    """The context in which `name` is a table of the rows of `query`."""
    return context.with_cte(name, Cte(None, context, (), query))
