"""The keys that a GROUP BY clause names, and its grouping sets."""

from __future__ import annotations

from itertools import combinations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.aggregate.aggregates import has_aggregate
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.query.select_list import Item, named_item, ordinal_item
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import GroupingFault, Span, TooComplex, UnknownColumn
from dpsql.plan.expression import Column, Expression
from dpsql.plan.traversal import columns

MAX_SETS = 64

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)

Keys = dict[Expression, Span | None]
"""Each key once, in order, and its place in the text."""


class KeyReader(Struct):
    """Reads the keys of a GROUP BY clause into `keys`, each once.

    `items` are the SELECT list, `computed` the columns of aggregates and window functions.
    """

    items: list[Item]
    binder: ExpressionBinder
    computed: set[Column]
    keys: Keys

    def index_of(self, node: exp.Expr) -> int:
        """The index of the key `node` among all keys of the clause."""
        key = self._key(node)
        if columns(key) & self.computed:
            raise GroupingFault("an aggregate can't be grouped by", at=span(node))
        self.keys.setdefault(key, span(node))
        return list(self.keys).index(key)

    def indices_of(self, node: exp.Expr) -> tuple[int, ...]:
        """The indices of the keys of `node`, a row (a, b) or one key; () has none."""
        if isinstance(node, exp.Tuple):
            return tuple(self.index_of(part) for part in node.expressions)
        if isinstance(node, exp.Paren):
            node = node.this
        return (self.index_of(node),)

    def sets(self, clauses: list[exp.Expr], plain: tuple[int, ...]) -> list[tuple[int, ...]] | None:
        """Every grouping set as indices of keys; None without `clauses`, which hold the sets.

        Each set has the `plain` keys too, which stand outside of ROLLUP, CUBE and GROUPING SETS.
        """
        if not clauses:
            return None
        sets = [plain]
        for clause in clauses:
            sets = [(*before, *more) for before in sets for more in self._expanded(clause)]
            if len(sets) > MAX_SETS:
                raise TooComplex(f"more than {MAX_SETS} grouping sets", at=span(clause))
        # (a, b) and (b, a) are one set.
        return [tuple(sorted(set(indices))) for indices in sets]

    def _expanded(self, clause: exp.Expr) -> list[tuple[int, ...]]:
        """The sets of one clause: prefixes of a ROLLUP, subsets of a CUBE, or as listed."""
        require_args(clause, "expressions")
        parts = [self.indices_of(part) for part in clause.expressions]
        match clause:
            case exp.Rollup():
                chosen = [parts[:n] for n in range(len(parts), -1, -1)]
            case exp.Cube():
                if 2 ** len(parts) > MAX_SETS:
                    raise TooComplex(f"more than {MAX_SETS} grouping sets", at=span(clause))
                sizes = range(len(parts), -1, -1)
                chosen = [list(c) for n in sizes for c in combinations(parts, n)]
            case _:
                return parts
        return [tuple(index for part in group for index in part) for group in chosen]

    def _key(self, node: exp.Expr) -> Expression:
        """An ordinal, a column in scope, or an alias of the SELECT list, in this order."""
        if isinstance(node, exp.Literal) and not node.is_string:
            return ordinal_item(node, self.items).expression
        item = named_item(node, self.items)
        if item is None:
            return self.binder.bind(node)
        try:
            return self.binder.bind(node)
        except UnknownColumn:
            return item.expression


def keys_by_index(node: exp.Select) -> exp.Select:
    """`node` with ordinals for keys that repeat an item of the SELECT list with a subquery.

    Bound twice, a subquery would be two columns.
    """
    group = node.args.get("group")
    if group is None or not any(key.find(exp.Query) for key in group.expressions):
        return node
    items = [item.unalias() for item in node.expressions]
    if any(item.is_star for item in items):
        return node
    keys = [
        exp.Literal.number(items.index(key) + 1) if key.find(exp.Query) and key in items else key
        for key in group.expressions
    ]
    changed = node.copy()
    changed.args["group"].set("expressions", [key.copy() for key in keys])
    return changed


def subquery_keys(node: exp.Select) -> frozenset[int]:
    """The indices of those items of the SELECT list that are keys and hold a subquery.

    A key is computed of rows, so that its subquery is evaluated for each row, not for each group.
    """
    group = node.args.get("group")
    if group is None:
        return frozenset()
    keys = [key for part in group.expressions for key in part.find_all(exp.Literal, exp.Column)]
    ordinals = {int(key.name) for key in keys if isinstance(key, exp.Literal) and key.is_int}
    names = {key.name.casefold() for key in keys if isinstance(key, exp.Column) and not key.table}
    return frozenset(
        index
        for index, item in enumerate(node.expressions)
        if (group.args.get("all") or index + 1 in ordinals or item.alias.casefold() in names)
        and item.find(exp.Query) is not None
        and not has_aggregate(item)
    )
