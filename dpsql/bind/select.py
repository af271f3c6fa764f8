"""SELECT: grouping, the frontier between private rows and released ones, and what lies above."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.bind.aggregate import Aggregates
from dpsql.bind.allow import only, refused
from dpsql.bind.expression import ExpressionBinder
from dpsql.bind.name import Names
from dpsql.bind.parse import span
from dpsql.bind.relation import From
from dpsql.errors import GroupingFault, Refused, Span, SyntaxFault, UnknownColumn
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import (
    Aggregate,
    AggregateFunction,
    Filter,
    Limit,
    Output,
    Plan,
    Project,
    Release,
    Sort,
    SortKey,
)
from dpsql.plan.tree import columns, rewrite_top_down
from dpsql.schema.model import Schema
from dpsql.schema.type import Integer
from dpsql.stability.lineage import Visibility, identities, visibility

_CLAUSES = (
    "kind",
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One column of the SELECT list."""

    name: str
    expression: Expression
    at: Span | None


@dataclass(frozen=True, slots=True)
class Selected:
    """A bound query: its plan, whose columns are the answer's, and their names."""

    plan: Plan
    names: tuple[str, ...]


def bind_select(node: exp.Expr, schema: Schema, names: Names) -> Selected:
    """The plan of a SELECT."""
    while isinstance(node, exp.Subquery):
        only(node, "this")
        node = node.this
    if not isinstance(node, exp.Select):
        raise refused(node)
    only(node, *_CLAUSES)
    if node.args.get("kind"):
        raise refused(node, f"SELECT AS {node.args['kind']}")
    return _Select(node, schema, names).bound()


class _Select:
    def __init__(self, node: exp.Select, schema: Schema, names: Names) -> None:
        self._node = node
        self._names = names
        self._from = From(schema, names)
        self._from.bind(node)
        self._aggregates = Aggregates(self._from.scope, names)
        self._binder = ExpressionBinder(self._from.scope, self._aggregates.bind)
        self._plain = ExpressionBinder(self._from.scope, self._no_aggregate)

    def bound(self) -> Selected:
        where = self._node.args.get("where")
        source = self._from.filtered(None if where is None else self._plain.condition(where.this))
        items = [item for e in self._node.expressions for item in self._items(e)]
        having = self._node.args.get("having")
        condition = None if having is None else self._binder.condition(having.this)
        order = self._order(items)
        keys = self._keys(items)
        if keys is not None or self._aggregates.found or condition is not None:
            source, items, condition, order = self._grouped(
                source, keys or {}, items, condition, order
            )
        if condition is not None:
            source = Filter(source, condition)
        return self._finished(source, items, order)

    def _items(self, node: exp.Expr) -> list[Item]:
        at = span(node)
        match node:
            case exp.Star():
                only(node)
                found = self._from.scope.expand(None, at)
                return [Item(name, column, at) for name, column in found]
            case exp.Column() if isinstance(node.this, exp.Star):
                found = self._from.scope.expand(node.table, at)
                return [Item(name, column, at) for name, column in found]
            case exp.Alias():
                only(node, "this", "alias")
                return [Item(node.alias, self._binder.bind(node.this), at)]
            case _:
                return [Item(_default_name(node), self._binder.bind(node), at)]

    def _keys(self, items: list[Item]) -> dict[Expression, Span | None] | None:
        """The group keys, in order, and where they stand; None without GROUP BY."""
        group = self._node.args.get("group")
        if group is None:
            return None
        only(group, "expressions", "all")
        if group.args.get("all"):
            held = {output.column for output in self._aggregates.found}
            return {i.expression: i.at for i in items if not columns(i.expression) & held}
        keys: dict[Expression, Span | None] = {}
        for node in group.expressions:
            keys.setdefault(self._key(node, items), span(node))
        return keys

    def _key(self, node: exp.Expr, items: list[Item]) -> Expression:
        """An ordinal, a column in scope, or an alias of the SELECT list, in this order."""
        if isinstance(node, exp.Literal) and not node.is_string:
            key = _ordinal(node, items).expression
        elif isinstance(node, exp.Column) and not node.table:
            try:
                key = self._plain.bind(node)
            except UnknownColumn:
                named = [i for i in items if i.name.casefold() == node.name.casefold()]
                if not named:
                    raise
                key = named[0].expression
        else:
            key = self._plain.bind(node)
        if columns(key) & {output.column for output in self._aggregates.found}:
            raise GroupingFault("an aggregate can't be grouped by", at=span(node))
        return key

    def _order(self, items: list[Item]) -> list[SortKey]:
        order = self._node.args.get("order")
        if order is None:
            return []
        only(order, "expressions")
        keys: list[SortKey] = []
        for node in order.expressions:
            only(node, "this", "desc", "nulls_first")
            descending = bool(node.args.get("desc"))
            keys.append(
                SortKey(
                    self._sorted_by(node.this, items), descending, bool(node.args["nulls_first"])
                )
            )
        return keys

    def _sorted_by(self, node: exp.Expr, items: list[Item]) -> Expression:
        """An ordinal, an alias of the SELECT list, or any expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            return _ordinal(node, items).expression
        if isinstance(node, exp.Column) and not node.table:
            named = [i for i in items if i.name.casefold() == node.name.casefold()]
            if named:
                return named[0].expression
        return self._binder.bind(node)

    def _grouped(
        self,
        source: Plan,
        places: dict[Expression, Span | None],
        items: list[Item],
        having: Expression | None,
        order: list[SortKey],
    ) -> tuple[Plan, list[Item], Expression | None, list[SortKey]]:
        """Everything above the grouping, over its keys and aggregates."""
        keys = [key for key in places if not isinstance(key, Literal)]
        outputs = tuple(
            Output(self._names.column(_key_name(key, items), key.type), key, places.get(key))
            for key in keys
        )
        grouped = self._frontier(source, outputs)
        by_key = {output.expression: output.column for output in outputs}
        held = {output.column for output in self._aggregates.found}

        def above(expression: Expression, at: Span | None) -> Expression:
            lifted = rewrite_top_down(by_key.get, expression)
            stray = columns(lifted) - held - set(by_key.values())
            if stray:
                name = min(column.name for column in stray)
                raise GroupingFault(
                    f"column {name} is neither grouped by nor aggregated",
                    at=at,
                    hint=f"add {name} to GROUP BY, or write count({name})",
                )
            return lifted

        return (
            grouped,
            [Item(i.name, above(i.expression, i.at), i.at) for i in items],
            None if having is None else above(having, span(self._node.args["having"])),
            [SortKey(above(k.expression, None), k.descending, k.nulls_first) for k in order],
        )

    def _frontier(self, source: Plan, keys: tuple[Output, ...]) -> Plan:
        """The lowest aggregate whose keys don't determine the unit is a release."""
        found = tuple(self._aggregates.found)
        if visibility(source) is not Visibility.PRIVATE:
            return Aggregate(source, keys, found)
        tags = identities(source)
        if any(isinstance(k.expression, Column) and k.expression in tags for k in keys):
            return Aggregate(source, keys, found)
        for output in found:
            if output.call.distinct:
                self._check_distinct(output.call.argument, output.call.function, source)
        return Release(source, keys, found)

    def _check_distinct(
        self, argument: Expression | None, function: AggregateFunction, source: Plan
    ) -> None:
        tags = identities(source)
        identified = tags.get(argument, frozenset()) if isinstance(argument, Column) else ()
        if function is AggregateFunction.COUNT and any(tag[0] == "unit" for tag in identified):
            return
        raise Refused(
            f"{function.value}(DISTINCT …) of anything but the privacy unit has no rule",
            at=span(self._node),
            hint="count the distinct units, or group by the column",
            note="aggregate_count",
        )

    def _finished(self, source: Plan, items: list[Item], order: list[SortKey]) -> Selected:
        """ORDER BY and LIMIT over public or released rows, then the SELECT list."""
        count, offset = self._limit()
        if order or count is not None or offset:
            if visibility(source) is Visibility.PRIVATE:
                clause = self._node.args.get("order") or self._node.args.get("limit") or self._node
                raise Refused(
                    "ORDER BY and LIMIT of private rows: whether one appears depends on the others",
                    at=span(clause),
                    hint="aggregate first, then order what is released",
                    note="order_limit",
                )
            if order:
                source = Sort(source, tuple(order))
            if count is not None or offset:
                source = Limit(source, count, offset)
        outputs = tuple(
            Output(self._names.column(item.name, item.expression.type), item.expression)
            for item in items
        )
        return Selected(Project(source, outputs), tuple(item.name for item in items))

    def _limit(self) -> tuple[int | None, int]:
        return self._number("limit"), self._number("offset") or 0

    def _number(self, clause: str) -> int | None:
        node = self._node.args.get(clause)
        if node is None:
            return None
        only(node, "expression")
        bound = self._plain.bind(node.expression)
        value = bound.value if isinstance(bound, Literal) else None
        if not isinstance(bound.type, Integer) or not isinstance(value, int) or value < 0:
            raise SyntaxFault(f"{clause.upper()} takes a constant of at least 0", at=span(node))
        return value

    def _no_aggregate(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.AggFunc | exp.Filter):
            raise GroupingFault(
                "an aggregate can't stand in WHERE or GROUP BY",
                at=span(node),
                hint="put a condition on an aggregate into HAVING",
            )
        return None


def _ordinal(node: exp.Literal, items: list[Item]) -> Item:
    number = int(node.this) if node.this.isdigit() else 0
    if not 1 <= number <= len(items):
        raise SyntaxFault(f"there is no column {node.this} in the SELECT list", at=span(node))
    return items[number - 1]


def _key_name(key: Expression, items: list[Item]) -> str:
    if isinstance(key, Column):
        return key.name
    return next((item.name for item in items if item.expression == key), "key")


def _default_name(node: exp.Expr) -> str:
    """What DuckDB calls a column without an alias."""
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return "count_star()"
    return node.sql(dialect="duckdb", normalize_functions="lower", comments=False)
