"""Window functions over released and public rows, or over the rows of one unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from msgspec import Struct, field
from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, has_row_units, visibility
from dpsql.analysis.lineage.unit_identity import determines_unit
from dpsql.bind.column_ids import Names
from dpsql.bind.expression.cast import summable
from dpsql.bind.expression.coercion import sum_type
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.query.distinct_on import had_distinct_on
from dpsql.bind.query.order_by import order_keys
from dpsql.bind.subquery.equality import by_more_than_equalities, inner_side
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.bind.window.frame import frame_of
from dpsql.bind.window.window_clause import NamedWindows
from dpsql.bind.window.window_summary import SUMMARIES, Called, of_those, summary
from dpsql.errors import GroupingFault, Refused, Span, TypeFault, UnknownFunction
from dpsql.plan.aggregate import QUANTILES
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.expression_text import describe
from dpsql.plan.frame import FrameExclusion, FrameKind
from dpsql.plan.operator import Plan, WindowCall, WindowOutput
from dpsql.plan.total_form import window_form
from dpsql.plan.traversal import columns, expressions
from dpsql.schema.sql_type import BIGINT, Double, Integer, SqlType
from dpsql.structs import replace

_RANKING = {"row_number", "rank", "dense_rank"}
_FRACTIONS = {"percent_rank", "cume_dist"}
_VALUES = {"lag", "lead", "first_value", "last_value", "nth_value", "min", "max"}
_TOTALS = {"sum", "avg"}
_AGGREGATES = _TOTALS | {"count", "min", "max"}
_QUANTILES = {function.value for function in QUANTILES}
_OF_ROWS = _VALUES - {"min", "max"}
"""Functions that give one row's value: by IGNORE NULLS they skip rows where it is NULL."""


class Windows(Struct):
    """The window functions of one SELECT, each with the column that will hold its value."""

    names: Names
    named: NamedWindows
    outputs: list[WindowOutput] = field(default_factory=list)

    @staticmethod
    def of(node: exp.Select, names: Names) -> Windows:
        """No window functions yet: `bind` adds them. The WINDOW clause of `node` is read."""
        return Windows(names, NamedWindows.of(node))

    def bind(self, node: exp.Expr, binder: ExpressionBinder) -> Column | None:
        """The column of the window function that `node` is; None if it isn't one."""
        if not isinstance(node, exp.Window):
            return None
        node = self.named.written_out(node)
        require_args(node, "this", "partition_by", "order", "spec", "over")
        call = node.this
        condition = None
        if isinstance(call, exp.Filter):
            require_args(call, "this", "expression")
            call, condition = call.this, binder.condition(call.expression.this)
        ignoring = isinstance(call, exp.IgnoreNulls)
        if isinstance(call, exp.IgnoreNulls | exp.RespectNulls):
            call = call.this
        if isinstance(call, SUMMARIES):
            return self._bound(node, summary(call, binder, condition), binder)
        name = _name(call)
        arguments, distinct = _arguments(call)
        if distinct and not arguments:
            raise unsupported(node, f"{name} of nothing", hint=f"write {name}(DISTINCT column)")
        if (distinct or condition is not None) and name not in _AGGREGATES:
            clause = "DISTINCT" if distinct else "FILTER"
            raise unsupported(node, f"{clause} with {name}()", hint="leave it out")
        values = tuple(binder.bind(argument) for argument in arguments)
        if name in _TOTALS:
            values = tuple(summable(value, node) for value in values)
        kind = _type(name, values)
        if condition is not None:
            # Aggregates skip the NULL of a row that doesn't satisfy the condition.
            counted = values or (Literal(1, BIGINT),)
            values = tuple(of_those(condition, value) for value in counted)
        if kind is None:
            raise TypeFault(f"{name}() over these types has no rule", at=span(node))
        called = Called(name, values, kind, ignoring and name in _OF_ROWS, distinct)
        return self._bound(node, called, binder)

    def _bound(self, node: exp.Window, called: Called, binder: ExpressionBinder) -> Column:
        """The column of the function `called` over the window that `node` describes."""
        order = tuple(order_keys(node, binder.bind))
        window = WindowCall(
            called.name,
            called.arguments,
            tuple(binder.bind(part) for part in node.args.get("partition_by") or []),
            order,
            frame_of(node, order),
            called.type,
            called.ignores_nulls,
            called.distinct,
        )
        if columns(*expressions(window)) & {output.column for output in self.outputs}:
            raise GroupingFault(
                "window functions can't be nested",
                at=span(node),
                hint="compute the inner one in a subquery",
            )
        for output in self.outputs:
            if output.call == window:
                return output.column
        column = self.names.column(called.name, called.type)
        self.outputs.append(WindowOutput(column, window))
        return column

    def check_having(self, condition: Expression | None, at: Span | None) -> None:
        """Refuse a window function in HAVING, which chooses the groups that windows are over."""
        if columns(condition) & {output.column for output in self.outputs}:
            raise GroupingFault(
                "a window function can't stand in HAVING",
                at=at,
                hint="put a condition on it into QUALIFY",
            )

    def partition_by(
        self, correlated: Iterable[Expression], outer: AbstractSet[Column], node: exp.Select
    ) -> None:
        """Restrict each window to the rows of a subquery that one row of the outer query meets.

        `correlated` are the conditions on `outer` columns. Rows that an outer row meets by
        equalities share the equated values, so that these partition the rows. By an inequality,
        two outer rows would meet sets of rows that overlap. Raises Refused then.
        """
        sides = [inner_side(condition, outer) for condition in correlated if self.outputs]
        keys = [key for key in sides if key is not None]
        if len(keys) < len(sides):
            raise by_more_than_equalities("a window function", node)

        def partition(call: WindowCall) -> WindowCall:
            return replace(call, partition=tuple(dict.fromkeys((*call.partition, *keys))))

        self.outputs = [replace(w, call=partition(w.call)) for w in self.outputs]

    def change(self, expression: Callable[[Expression], Expression]) -> None:
        """Change every expression that the window functions read."""
        self.outputs = [replace(w, call=_mapped(w.call, expression)) for w in self.outputs]


def check_windows(plan: Plan, windows: Windows, node: exp.Select) -> None:
    """Refuse windows over private rows of several units, or whose values depend on row order."""
    if visibility(plan) is not Visibility.PRIVATE:
        return
    for output in windows.outputs:
        call = output.call
        if not determines_unit(plan, call.partition) or has_row_units(plan):
            is_first = had_distinct_on(node)
            what = "DISTINCT ON" if is_first else f"{call.function}()"
            by = "DISTINCT ON" if is_first else "PARTITION BY"
            raise Refused(
                f"{what} over private rows of several units",
                at=span(node),
                hint=f"{by} a key of the unit, or aggregate first",
                note="window",
            )
        if call.function in _TOTALS and isinstance(call.arguments[0].type, Double):
            raise Refused(
                "a running sum of doubles depends on how they are added up",
                at=span(node),
                hint=f"sum CAST({describe(call.arguments[0])} AS DECIMAL(18,4))",
                note="window",
            )
        if window_form(call.function, call.arguments[0].type if call.arguments else None) is None:
            raise Refused(
                f"{call.function}() over these rows of one unit has no form that can't fail",
                at=span(node),
                hint="use count, or another type: CAST(x AS BIGINT)",
                note="window",
            )
        _check_frame(call, node)


def _check_frame(call: WindowCall, node: exp.Select) -> None:
    """Refuse frames over private rows that depend on the order of ties, or may overflow a key."""
    if call.frame is None:
        return
    rows = call.frame.kind is FrameKind.ROWS
    if call.frame.excluded not in {None, FrameExclusion.CURRENT_ROW if rows else None}:
        # Over private rows the rows' own values break ties in ORDER BY, so that none are left.
        raise Refused(
            "EXCLUDE of what ties, over private rows",
            at=span(node),
            hint="write ROWS … EXCLUDE CURRENT ROW",
            note="window",
        )
    if rows:
        return
    if call.function not in _AGGREGATES | _QUANTILES:
        raise Refused(
            f"{call.function}() over a frame of {call.frame.kind.value} depends on how ties lie",
            at=span(node),
            hint="write ROWS, or use sum, avg, min, max or count",
            note="window",
        )
    key = call.order[0].expression if call.order else None
    narrow = key is not None and isinstance(key.type, Integer) and key.type.bits <= 64
    if call.frame.has_distance and not narrow:
        raise Refused(
            "a RANGE with a distance over private rows, where a key could leave its type",
            at=span(node),
            hint="order by a whole number: ORDER BY datediff('day', DATE '2000-01-01', day)",
            note="window",
        )


def _mapped(call: WindowCall, change: Callable[[Expression], Expression]) -> WindowCall:
    return replace(
        call,
        arguments=tuple(change(a) for a in call.arguments),
        partition=tuple(change(p) for p in call.partition),
        order=tuple(replace(k, expression=change(k.expression)) for k in call.order),
    )


def _name(call: exp.Expr) -> str:
    name = call.name if isinstance(call, exp.Anonymous) else _sql_name(call)
    name = name.lower()
    if name in _RANKING | _FRACTIONS | _VALUES | _TOTALS | {"ntile", "count"}:
        return name
    raise UnknownFunction(
        f"window function {name} isn't on the allow-list",
        at=span(call),
        hint="use row_number, rank, lag, lead, sum, avg, median, min, max, count, first_value, …",
        note="window",
    )


def _sql_name(call: exp.Expr) -> str:
    return call.sql_name() if isinstance(call, exp.Func) else call.key


def _arguments(call: exp.Expr) -> tuple[list[exp.Expr], bool]:
    """The arguments of `call`, and whether DISTINCT stands before them."""
    if isinstance(call, exp.Anonymous):
        return list(call.expressions), False
    arguments: list[exp.Expr] = []
    for name, value in call.args.items():
        if name in ("big_int", "ignore_nulls") or value is None or isinstance(value, bool):
            continue
        if isinstance(value, exp.Star):
            continue
        if isinstance(value, exp.Distinct):
            require_args(value, "expressions")
            return list(value.expressions), True
        arguments += value if isinstance(value, list) else [value]
    return arguments, False


def _type(name: str, values: tuple[Expression, ...]) -> SqlType | None:
    """The type of the function `name` over arguments `values`; None if it doesn't take them."""
    if name in _RANKING:
        return BIGINT if not values else None
    if name in _FRACTIONS:
        return Double() if not values else None
    if name == "ntile":
        return BIGINT if len(values) == 1 and _whole(values[0]) else None
    if name == "count":
        return BIGINT if len(values) <= 1 else None
    if not values or not all(_whole(value) for value in values[1:2]):
        return None
    if name in _TOTALS:
        total = sum_type(values[0].type) if len(values) == 1 else None
        return total if name == "sum" or total is None else Double()
    limit = 2 if name in ("lag", "lead", "nth_value") else 1
    return values[0].type if len(values) <= limit else None


def _whole(value: Expression) -> bool:
    """Whether `value` is a whole number above 0, as a constant."""
    return (
        isinstance(value, Literal)
        and isinstance(value.type, Integer)
        and isinstance(value.value, int)
        and 0 < value.value < 2**63
    )
