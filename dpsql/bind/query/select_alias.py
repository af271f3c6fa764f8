"""Aliases of the SELECT list, where a name that isn't a column's can mean one."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dpsql.bind.aggregate.aggregates import no_aggregate
from dpsql.bind.expression.expression import Special
from dpsql.bind.query.select_list import Item, named_item
from dpsql.bind.scope import Scope
from dpsql.bind.syntax.parse import span
from dpsql.errors import GroupingFault
from dpsql.plan.expression import Column, Expression
from dpsql.plan.traversal import columns


@dataclass(slots=True)
class Aliases:
    """The columns of a SELECT list, each known once it is bound: those after it can name it."""

    scope: Scope
    items: list[Item] = field(default_factory=list)
    grouped: frozenset[Column] | None = None
    """The columns that keys are made of: HAVING means other columns' names as aliases."""

    def resolve(self, node: exp.Expr) -> Expression | None:
        """What the alias `node` stands for; None where it isn't one, or names a column."""
        item = named_item(node, self.items)
        if item is None:
            return None
        if self.scope.knows(node.name, ()) and (
            self.grouped is None or columns(self.scope.resolve(node.name, (), None)) <= self.grouped
        ):
            return None
        return item.expression

    def of_rows(self, above: frozenset[Column]) -> Special:
        """What is special in WHERE: aliases, though not of the columns of `above`, its result."""

        def special(node: exp.Expr) -> Expression | None:
            found = self.resolve(node)
            if found is None:
                return no_aggregate(node)
            if columns(found) & above:
                raise GroupingFault(
                    f"{node.name} is computed after WHERE has chosen rows",
                    at=span(node),
                    hint="put a condition on an aggregate into HAVING, on a window into QUALIFY",
                )
            return found

        return special
