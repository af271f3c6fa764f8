"""What a query is bound in: schema, ids, CTEs in scope, parameters, and the query around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from dpsql.schema.model import Schema, View


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A bound query: its plan, whose first columns are the answer's, and their names.

    `correlated` are the conditions that name columns of the query around it; they aren't part of
    the plan, which hands on what they read of it, after the answer's columns. `subquery_columns`
    are columns of that query whose values the plan is for: an empty relation stands for them in it.
    """

    plan: Plan
    names: tuple[str, ...]
    correlated: tuple[Expression, ...] = ()
    subquery_columns: tuple[Output, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The answer's columns."""
        return output_columns(self.plan)


@dataclass(slots=True)
class Cte:
    """A named query: bound where it is first named, again wherever private rows are meant anew.

    `query` None: `bound` is a plan that no text says, and that is named once.
    """

    query: exp.Expr | None
    context: Context
    aliases: tuple[str, ...]
    bound: BoundQuery | None = None


@dataclass(frozen=True, slots=True)
class SingleRow:
    """Public rows of which there must be one at most: their number, and where they are named."""

    count: Plan
    at: Span | None = field(compare=False)


@dataclass(frozen=True, slots=True)
class Context:
    """What is known around a query.

    `releases` are the tables that analysts keep, beside those of the schema.
    `outer` is the scope of the query around this one, None where nothing of it can be named;
    `outermost` tells that the query's rows are the statement's answer. `views` holds the views that
    the statement has named, `view_stack` those whose text this is, outermost first: theirs is the
    owner's, who sees every table. `single` gathers what the statement takes for one row, and
    `values` the releases of which scalar subqueries read a group at a time.
    """

    schema: Schema
    names: Names
    parameters: Parameters = field(default_factory=dict)
    ctes: Mapping[str, Cte] = field(default_factory=dict)
    outer: Scope | None = None
    outermost: bool = True
    cte_size: RepeatedSize = field(default_factory=RepeatedSize)
    views: dict[str, Cte] = field(default_factory=dict)
    view_stack: tuple[View, ...] = ()
    releases: SavedReleaseNames = NO_RELEASES
    single: list[SingleRow] = field(default_factory=list)
    values: list[Plan] = field(default_factory=list)

    def with_cte(self, name: str, cte: Cte) -> Context:
        """The same with one more named query."""
        return replace(self, ctes={**self.ctes, name.casefold(): cte})

    def subquery_context(self, outer: Scope | None) -> Context:
        """The context of a subquery: it can name columns of `outer`, of nothing beyond it."""
        return replace(self, outer=outer, outermost=False)

    def view_context(self, view: View) -> Context:
        """The context of a view's query, which knows nothing of the statement that names it."""
        own = replace(self, parameters={}, ctes={}, view_stack=(*self.view_stack, view))
        return own.subquery_context(None)


def renamed(selected: BoundQuery, names: Names, aliases: Sequence[str] = ()) -> BoundQuery:
    """The same rows under columns of their own: a query can be named twice in one FROM."""
    shown = (*aliases, *selected.names[len(aliases) :])
    outputs = tuple(
        Output(names.column(name, column.type), column)
        for name, column in zip(shown, selected.columns, strict=False)
    )
    return BoundQuery(Project(selected.plan, outputs), shown)
