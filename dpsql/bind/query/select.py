"""SELECT, clause by clause; its grouping is bound in `grouping`, its subqueries in `subquery`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.aggregate.aggregates import Aggregates, has_aggregate, no_aggregate
from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.from_clause.from_clause import FromClause
from dpsql.bind.from_clause.pivot import without_pivots
from dpsql.bind.from_clause.values_clause import unnested
from dpsql.bind.grouping.group_by import Grouping, grouped
from dpsql.bind.grouping.grouping_sets import keys_by_index, subquery_keys
from dpsql.bind.grouping.having import without_tautologies
from dpsql.bind.proof.partner_existence import without_partner_joins
from dpsql.bind.query.distinct_on import had_distinct_on, without_distinct_on
from dpsql.bind.query.order_by import limit_of, order_keys, row_limit, sorted_rows
from dpsql.bind.query.private_selection import private_selection
from dpsql.bind.query.select_alias import Aliases
from dpsql.bind.query.select_distinct import check_equalities, distinct
from dpsql.bind.query.select_list import Item, bind_items, named_item, ordinal_item
from dpsql.bind.scope import Scope
from dpsql.bind.subquery.correlation import by_key, check_empty, check_grouped
from dpsql.bind.subquery.equality import by_more_than_equalities
from dpsql.bind.subquery.subquery import Subqueries, filtered
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.bind.window.window import Windows, check_windows
from dpsql.errors import GroupingFault, Refused, Span, SyntaxFault
from dpsql.plan.expression import Expression, conjuncts
from dpsql.plan.operator import Filter, Output, Plan, Project, Window
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import columns, expressions, rewrite_top_down
from dpsql.structs import replace

_CLAUSES = (
    *("expressions", "distinct", "from_", "joins", "where", "group", "having", "windows"),
    *("qualify", "order", "limit", "offset", "with_"),
)


def bind_select(node: exp.Select, context: Context) -> BoundQuery:
    """The plan of a SELECT."""
    if node.args.get("kind"):
        raise unsupported(node, f"SELECT AS {node.args['kind']}", "leave AS out")
    require_args(node, *_CLAUSES)
    if not node.expressions:
        raise SyntaxFault("SELECT lists no columns", at=span(node), hint="write SELECT count(*) …")
    plain, context = without_pivots(node, context)
    plain, context = without_distinct_on(without_partner_joins(unnested(plain), context), context)
    chosen = private_selection(plain, context)
    if chosen is not None:
        return chosen
    return _Select(keys_by_index(plain), context).bind()


class UpperClauses(Struct):
    """The clauses above FROM and WHERE over the columns of `plan`; `condition` is HAVING."""

    plan: Plan
    items: list[Item]
    order: list[SortKey]
    condition: Expression | None
    qualify: Expression | None


class _Select:
    def __init__(self, node: exp.Select, context: Context) -> None:
        self._node = node
        self._context = context
        self._from = FromClause(context.subquery_context(None), Scope(parent=context.outer))
        self._from.bind(node)
        scope = self._from.scope
        self._subquery_columns: tuple[Output, ...] = ()
        self._windows = Windows.of(node, context.names)
        self._below = Subqueries(context, scope, self._from.sources)
        self._aggregates = Aggregates(scope, context.names, self._below.bind, context.parameters)
        self._upper = Subqueries(context, scope)
        self._aliases = Aliases(scope)
        self._plain = self._binder(self._below, no_aggregate)
        self._full = self._binder(self._upper if self._is_grouped() else self._below, self._above)

    def bind(self) -> BoundQuery:
        items = self._aliases.items
        keys = subquery_keys(self._node)
        for index, listed in enumerate(self._node.expressions):
            binder = self._plain if index in keys else self._full
            items += bind_items(listed, binder, self._from.scope)
        predicate = self._where()
        order = order_keys(self._node, self._sorted_by, [item.expression for item in items])
        grouping = self._grouping(items)
        qualify = self._condition("qualify")
        if grouping is not None:
            self._aliases.grouped = columns(*grouping.keys)
        having = self._condition("having")
        self._windows.check_having(having, self._span("having"))
        # Subqueries of the SELECT list are known by now: they are joined to the rows, as WHERE's.
        source, correlated = self._correlated(predicate)
        above = UpperClauses(source, items, order, having, qualify)
        if grouping is not None:
            above, correlated = self._group(above, grouping, correlated)
        return self._build(above, correlated)

    def _binder(
        self, subqueries: Subqueries, special: Callable[[exp.Expr], Expression | None]
    ) -> ExpressionBinder:
        """Binds expressions that hold subqueries and what else is `special` in their clause."""

        def bound(node: exp.Expr) -> Expression | None:
            value = subqueries.bind(node, binder)
            return value if value is not None else special(node)

        binder = ExpressionBinder(self._from.scope, bound, self._context.parameters)
        return binder

    def _above(self, node: exp.Expr) -> Expression | None:
        """An alias, an aggregate or a window function."""
        expression = self._aliases.resolve(node)
        if expression is None:
            expression = self._windows.bind(node, self._full)
        return expression if expression is not None else self._aggregates.bind(node)

    def _where(self) -> Expression | None:
        """The condition of WHERE; an alias in it stands for what is computed of one row."""
        node = self._node.args.get("where")
        if node is None:
            return None
        above = self._aggregates.columns | {w.column for w in self._windows.outputs}
        above |= self._upper.columns if self._is_grouped() else set()
        special = self._aliases.of_rows(frozenset(above))
        return self._binder(self._below, special).condition(node.this)

    def _is_grouped(self) -> bool:
        args = self._node.args
        others = args.get("qualify"), args.get("order")
        clauses = (*args["expressions"], *(args.get("windows") or ()), *filter(None, others))
        return bool(args.get("group") or args.get("having")) or any(map(has_aggregate, clauses))

    def _condition(self, clause: str) -> Expression | None:
        node = self._node.args.get(clause)
        return None if node is None else self._full.condition(node.this)

    def _correlated(self, predicate: Expression | None) -> tuple[Plan, list[Expression]]:
        """The rows that satisfy WHERE, and its conditions on columns of the outer query."""
        parts = () if predicate is None else conjuncts(predicate)
        outer = self._from.scope.correlated
        correlated = [p for p in parts if columns(p) & outer]
        own = tuple(p for p in parts if not columns(p) & outer)
        later = tuple(p for p in own if columns(p) & self._below.columns)
        source = self._from.where(tuple(p for p in own if p not in later))
        return self._below.attach(source, later), correlated

    def _grouping(self, items: list[Item]) -> Grouping | None:
        if not self._is_grouped():
            return None
        return Grouping.of(self._node, items, self._plain, self._aggregates, self._windows)

    def _group(
        self, above: UpperClauses, grouping: Grouping, correlated: list[Expression]
    ) -> tuple[UpperClauses, list[Expression]]:
        """`above` and `correlated` over the grouped rows: they read keys and aggregates only."""
        self._check_own([*grouping.keys, *expressions(tuple(self._aggregates.outputs))])
        names, outer = self._context.names, self._from.scope.correlated
        keyed = by_key(above.plan, grouping, correlated, outer, self._node, names)
        grouping, self._subquery_columns = keyed.grouping, keyed.subquery_columns
        condition = above.condition and without_tautologies(
            above.condition, grouping, self._aggregates, columns(*self._above_having(above))
        )
        # An aggregate that only a tautology or typeof() reads isn't computed.
        self._aggregates.drop_unused(columns(condition, *self._above_having(above)))
        result = grouped(keyed.rows, grouping, self._aggregates, self._context)
        check_grouped(result.plan, keyed, self._node)
        readable = result.columns | self._upper.columns | {w.column for w in self._windows.outputs}

        def lift(expression: Expression, at: Span | None) -> Expression:
            lifted = rewrite_top_down(result.substitution.get, expression)
            stray = columns(lifted) - readable
            if stray:
                raise _stray(min(column.name for column in stray), at)
            return lifted

        self._windows.change(lambda e: lift(e, None))
        condition = condition and lift(condition, self._span("having"))
        check_empty(condition, correlated, self._aggregates.outputs, self._node)
        lifted = UpperClauses(
            plan=self._upper.attach(result.plan),
            items=[replace(i, expression=lift(i.expression, i.at)) for i in above.items],
            order=[
                replace(k, expression=lift(k.expression, self._span("order"))) for k in above.order
            ],
            condition=condition,
            qualify=above.qualify and lift(above.qualify, self._span("qualify")),
        )
        return lifted, [rewrite_top_down(result.substitution.get, c) for c in keyed.conditions]

    def _above_having(self, above: UpperClauses) -> list[Expression | None]:
        """The expressions above the grouping, but for HAVING."""
        listed = [*(i.expression for i in above.items), *(k.expression for k in above.order)]
        return [*listed, above.qualify, *expressions(tuple(self._windows.outputs))]

    def _span(self, clause: str) -> Span | None:
        node = self._node.args.get(clause)
        return None if node is None else span(node)

    def _check_own(self, read: list[Expression]) -> None:
        """Refuse to group or aggregate columns of the outer query."""
        if columns(*read) & self._from.scope.correlated:
            raise _only_in_where(span(self._node))

    def _sorted_by(self, node: exp.Expr) -> Expression:
        """The ORDER BY term `node`: an ordinal, an alias of the SELECT list, or any expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            return ordinal_item(node, self._aliases.items).expression
        item = named_item(node, self._aliases.items)
        return item.expression if item is not None else self._full.bind(node)

    def _build(self, above: UpperClauses, correlated: list[Expression]) -> BoundQuery:
        """HAVING, windows, QUALIFY, ORDER BY, LIMIT and the SELECT list, in this order."""
        plan = filtered(above.plan, () if above.condition is None else (above.condition,))
        if self._windows.outputs:
            self._check_own([*expressions(tuple(self._windows.outputs))])
            if self._subquery_columns:
                raise by_more_than_equalities("a window function", self._node)
            self._windows.partition_by(correlated, self._from.scope.correlated, self._node)
            check_windows(plan, self._windows, self._node)
            plan = Window(plan, tuple(self._windows.outputs))
        if above.qualify is not None:
            plan = Filter(plan, above.qualify)
        if self._node.args.get("distinct") is not None:
            return self._distinct(plan, above, correlated)
        count, _ = limit_of(self._node, self._context.parameters)
        # Private rows as the statement's answer are refused for that, not for their order.
        if count != 0 and not (self._context.outermost and visibility(plan) is Visibility.PRIVATE):
            # In a subquery the order only says which rows of a DISTINCT ON are first.
            chosen = had_distinct_on(self._node) and visibility(plan) is Visibility.PRIVATE
            if above.order and not (chosen and count is None):
                self._check_own([key.expression for key in above.order])
                plan = sorted_rows(plan, tuple(above.order), self._node.args["order"])
            plan = self._limited(BoundQuery(plan, ())).plan
        selected = self._projected(plan, above.items, correlated)
        return self._limited(selected) if count == 0 else selected

    def _projected(self, plan: Plan, items: list[Item], correlated: list[Expression]) -> BoundQuery:
        names = self._context.names
        outputs = [
            Output(names.column(i.name, i.expression.type), i.expression, i.at) for i in items
        ]
        inner = frozenset(output_columns(plan))
        for item in items:
            if columns(item.expression) - inner:
                raise _only_in_where(item.at)
        read_outputs = {c: Output(names.like(c), c) for p in correlated for c in columns(p) & inner}
        meaning: dict[Expression, Expression] = {c: o.column for c, o in read_outputs.items()}
        return BoundQuery(
            Project(plan, (*outputs, *read_outputs.values())),
            tuple(item.name for item in items),
            tuple(rewrite_top_down(meaning.get, p) for p in correlated),
            self._subquery_columns,
        )

    def _distinct(
        self, plan: Plan, above: UpperClauses, correlated: list[Expression]
    ) -> BoundQuery:
        require_args(self._node.args["distinct"])
        if self._subquery_columns:
            raise by_more_than_equalities("DISTINCT", self._node)
        check_equalities(correlated, self._from.scope.correlated, self._node)
        shown = self._projected(plan, above.items, correlated)
        computed = [item.expression for item in above.items]
        return self._limited(distinct(shown, computed, above.order, self._node, self._context))

    def _limited(self, selected: BoundQuery) -> BoundQuery:
        return row_limit(self._node, selected, self._context.parameters)


def _stray(name: str, at: Span | None) -> GroupingFault:
    return GroupingFault(
        f"column {name} is neither grouped by nor aggregated",
        at=at,
        hint=f"add {name} to GROUP BY, or write count({name})",
    )


def _only_in_where(at: Span | None) -> Refused:
    what = "a subquery names columns of the query around it in WHERE only"
    return Refused(what, at=at, note="subqueries")
