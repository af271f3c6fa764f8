"""What a query is bound in: schema, column ids, CTEs, parameters, and its outer query.

A query has queries nested in it, anywhere: in FROM, in WITH, in a view, in an expression. Modules
import each other in one direction only, from the whole to its parts:

    statement, schema_views → query.query → query.select → from_clause, subquery, … → context

The modules on the right bind a nested query by `Context.bind_query`, which is `query.query`'s
function: `query.query.statement_context` sets it where the binding of a statement starts, and all
contexts that are derived from that one keep it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from sqlglot import exp

from dpsql.bind.column_ids import Names
from dpsql.bind.saved_release import NO_RELEASES, SavedReleaseNames
from dpsql.bind.scope import Scope
from dpsql.bind.syntax.complexity import RepeatedSize
from dpsql.bind.syntax.parameter import Parameters
from dpsql.errors import Span
from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Output, Plan, Project
from dpsql.plan.output_columns import output_columns
from dpsql.schema.model import Schema, Table, View
from dpsql.structs import not_compared, replace


class BoundQuery(msgspec.Struct, frozen=True):
    """A bound query: its plan, whose first columns are the answer's, and their names.

    `correlated` are its conditions on columns of the outer query. The plan doesn't apply them, but
    has the columns that they read, after the answer's. `subquery_columns` are columns of the outer
    query whose distinct values the plan joins: an empty relation stands for these values in it.
    """

    plan: Plan
    names: tuple[str, ...]
    correlated: tuple[Expression, ...] = ()
    subquery_columns: tuple[Output, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The answer's columns."""
        return output_columns(self.plan)


class Cte(msgspec.Struct):
    """A named query: bound where it is first named, and if its rows are private, at each name.

    `aliases` rename its first columns. If `query` is None, `bound` is a plan without a text.
    """

    query: exp.Expr | None
    context: Context
    aliases: tuple[str, ...]
    bound: BoundQuery | None = None


@not_compared("at")
class SingleRow(msgspec.Struct, frozen=True):
    """Public rows that a statement uses as one row: `count` is their number, which may be 0 or 1.

    `at` is the place of the subquery that they are of.
    """

    count: Plan
    at: Span | None


class BindQuery(Protocol):
    """Binds a query, with its WITH clause."""

    def __call__(self, node: exp.Expr, context: Context, /) -> BoundQuery:
        """The plan of the query `node` in `context`; raises `dpsql.errors.Error` if it has none."""


class Context(msgspec.Struct, frozen=True):
    """The context in which a query is bound.

    `bind_query` binds the queries that are nested in it, each in the context that it is passed.
    `releases` are saved releases, which are tables in addition to the schema's. `outer` is the
    scope of the outer query, None where none of its columns can be named. `outermost`: the query's
    rows are the statement's answer. `views` are the views that the statement has named so far;
    `view_stack` are those in whose text the query stands, outermost first: that text is the
    owner's, who sees every table. `single` collects the public rows that the statement uses as one
    row, `values` the releases that scalar subqueries read a group at a time, and `named_releases`
    the saved releases that the statement names, also where no row of theirs is read.
    """

    schema: Schema
    names: Names
    bind_query: BindQuery
    parameters: Parameters = msgspec.field(default_factory=dict)
    ctes: Mapping[str, Cte] = msgspec.field(default_factory=dict)
    outer: Scope | None = None
    outermost: bool = True
    cte_size: RepeatedSize = msgspec.field(default_factory=RepeatedSize)
    views: dict[str, Cte] = msgspec.field(default_factory=dict)
    view_stack: tuple[View, ...] = ()
    releases: SavedReleaseNames = NO_RELEASES
    single: list[SingleRow] = msgspec.field(default_factory=list)
    values: list[Plan] = msgspec.field(default_factory=list)
    named_releases: list[Table] = msgspec.field(default_factory=list)

    def with_cte(self, name: str, cte: Cte) -> Context:
        """The context with one more named query."""
        return replace(self, ctes={**self.ctes, name.casefold(): cte})

    def subquery_context(self, outer: Scope | None) -> Context:
        """The context of a subquery: it can name columns of `outer`, of nothing beyond it."""
        return replace(self, outer=outer, outermost=False)

    def view_context(self, view: View) -> Context:
        """The context of a view's query, which knows nothing of the statement that names it."""
        own = replace(self, parameters={}, ctes={}, view_stack=(*self.view_stack, view))
        return own.subquery_context(None)


def renamed(selected: BoundQuery, names: Names, aliases: Sequence[str] = ()) -> BoundQuery:
    """The rows of `selected` under new column ids, as one FROM can name a query twice.

    `aliases` rename its first columns.
    """
    shown = (*aliases, *selected.names[len(aliases) :])
    outputs = tuple(
        Output(names.column(name, column.type), column)
        for name, column in zip(shown, selected.columns, strict=False)
    )
    return BoundQuery(Project(selected.plan, outputs), shown)
