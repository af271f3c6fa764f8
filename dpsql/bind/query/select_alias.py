"""Aliases of the SELECT list, which other clauses can name where no column has the name."""

from __future__ import annotations

from msgspec import Struct, field
from sqlglot import exp

from dpsql.bind.aggregate.aggregates import no_aggregate
from dpsql.bind.expression.expression import Special
from dpsql.bind.query.select_list import Item, named_item
from dpsql.bind.scope import Scope
from dpsql.bind.syntax.parse import span
from dpsql.errors import GroupingFault
from dpsql.plan.expression import Column, Expression
from dpsql.plan.traversal import columns


class Aliases(Struct):
    """The items of a SELECT list that are bound so far: the items after them can name them."""

    scope: Scope
    items: list[Item] = field(default_factory=list)
    grouped: frozenset[Column] | None = None
    """The columns of group keys, None before grouping: HAVING can name only these, not others."""

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
        """Binds aliases in WHERE; refuses those that read `above`, columns computed after WHERE."""

        def special(node: exp.Expr) -> Expression | None:
            expression = self.resolve(node)
            if expression is None:
                return no_aggregate(node)
            if columns(expression) & above:
                raise GroupingFault(
                    f"{node.name} is computed after WHERE has chosen rows",
                    at=span(node),
                    hint="put a condition on an aggregate into HAVING, on a window into QUALIFY",
                )
            return expression

        return special
