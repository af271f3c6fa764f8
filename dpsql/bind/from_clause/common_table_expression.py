"""Named queries, of WITH and of views: they are bound where a statement names them."""

from __future__ import annotations

from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery, Context, Cte, renamed
from dpsql.bind.query.query import bind_query
from dpsql.bind.syntax.parse import span
from dpsql.errors import SyntaxFault


def bound_once(query: exp.Expr, context: Context) -> tuple[str, BoundQuery, Context]:
    """A new name for `query`, its rows, and the context in which the name means these rows.

    A rewriting that needs the columns of `query` binds it first. Were the rewritten text to bind
    `query` again, a nest of twenty such queries would be bound a million times.
    """
    selected, name = bind_query(query, context.subquery_context(None)), f" {len(context.ctes)}"
    return name, selected, context.with_cte(name, Cte(None, context, (), selected))


def named_query(cte: Cte, node: exp.Expr, context: Context) -> BoundQuery:
    """The rows that `cte` names at `node`; a release is one release, however often it is named."""
    if cte.query is not None and (
        cte.bound is None or visibility(cte.bound.plan) is Visibility.PRIVATE
    ):
        cte.bound = bind_query(cte.query, cte.context.subquery_context(None))
    if cte.bound is None:
        raise ValueError("a named query has a text or a plan")
    if len(cte.aliases) > len(cte.bound.names):
        raise SyntaxFault(
            f"the query has {len(cte.bound.names)} columns, and {len(cte.aliases)} are named",
            at=span(node),
        )
    context.cte_size.add(cte.bound.plan, node)
    return renamed(cte.bound, context.names, cte.aliases)
