"""The aggregate calls of a SELECT: calls that are equal are computed once, in one column."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct, field
from sqlglot import exp

from dpsql.bind.aggregate.quantile_rank import fraction_of
from dpsql.bind.aggregate.result_type import conversion_hint, is_summed, result_type
from dpsql.bind.aggregate.syntax import AggregateSyntax, is_aggregate, parse
from dpsql.bind.column_ids import Names
from dpsql.bind.expression.cast import summable
from dpsql.bind.expression.coercion import COUNT_TYPE
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.expression.row_value import row_parts, row_text
from dpsql.bind.query.sort_key import distinguishing_keys, order_terms
from dpsql.bind.scope import Scope
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.construct_name import function_instead
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import span
from dpsql.errors import GroupingFault, Refused, Span, TypeFault
from dpsql.plan.aggregate import (
    ARGUMENTS_OF_EXTREMES,
    LEFT_OUT,
    PAIRED,
    AggregateCall,
    AggregateFunction,
    AggregateOutput,
    OpenFunction,
    OutputKind,
)
from dpsql.plan.expression import Column, Expression, Literal, conjunction
from dpsql.plan.expression_text import describe
from dpsql.schema.sql_type import Double
from dpsql.structs import replace


class GroupingCall(Struct, frozen=True):
    """GROUPING(keys): an integer with a bit for each key, 1 where a grouping set leaves it out.

    The last key has the lowest bit. `column` holds the integer.
    """

    column: Column
    keys: tuple[Expression, ...]
    at: Span | None

    def value(self, set_keys: Collection[Expression]) -> Literal:
        """The integer for the groups of the grouping set whose keys are `set_keys`."""
        bits = "".join("01"[key not in set_keys] for key in self.keys)
        return Literal(int(bits or "0", 2), COUNT_TYPE)


class Aggregates(Struct):
    """The aggregates of one SELECT, each with the column that will hold its value."""

    scope: Scope
    names: Names
    subqueries: Callable[[exp.Expr, ExpressionBinder], Expression | None]
    """Binds a subquery in an argument, whose value is one for each row; None for other nodes."""
    parameters: Parameters = field(default_factory=dict)
    outputs: list[AggregateOutput] = field(default_factory=list)
    grouping_calls: list[GroupingCall] = field(default_factory=list)

    @property
    def columns(self) -> frozenset[Column]:
        """The columns of aggregates and of GROUPING(): rows don't have them, only groups do."""
        calls: list[AggregateOutput | GroupingCall] = [*self.outputs, *self.grouping_calls]
        return frozenset(call.column for call in calls)

    def drop_unused(self, read: frozenset[Column]) -> None:
        """Remove the aggregates whose columns aren't in `read`."""
        self.outputs = [output for output in self.outputs if output.column in read]

    def bind(self, node: exp.Expr) -> Column | None:
        """The column of the aggregate that `node` is; None if it isn't one."""
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._grouping_call(node)
        output_kind = _noise_property(node)
        if output_kind is not None:
            (inner,) = node.expressions
            inner_call = self._call_of(inner)
            if inner_call is None:
                raise _no_aggregate_in(output_kind, node)
            output_type = COUNT_TYPE if output_kind in LEFT_OUT else Double()
            return self._column(replace(inner_call, output_kind=output_kind, type=output_type))
        call = self._call_of(node)
        return None if call is None else self._column(call)

    def _grouping_call(self, node: exp.Expr) -> Column:
        require_args(node, "expressions")
        if not all(isinstance(key, exp.Expr) for key in node.expressions or [None]):
            raise unsupported(node, "GROUPING() of nothing", "GROUPING(key), of a key of GROUP BY")
        inner = ExpressionBinder(self.scope, _no_aggregate, self.parameters)
        keys = tuple(inner.bind(key) for key in node.expressions)
        column = self.names.column("grouping", COUNT_TYPE)
        self.grouping_calls.append(GroupingCall(column, keys, span(node)))
        return column

    def _call_of(self, node: exp.Expr) -> AggregateCall | None:
        """The aggregate that `node` is; None if it isn't one."""
        only_where: exp.Expr | None = None
        call = node
        if isinstance(node, exp.Filter):
            require_args(node, "this", "expression")
            call, only_where = node.this, node.expression.this
        if isinstance(call, exp.IgnoreNulls):
            # DuckDB's any_value(), first() and last() skip NULLs: sqlglot wraps their calls.
            call = call.this
        syntax = parse(call)
        if syntax is None:
            if is_aggregate(call) or call is not node:
                raise self._no_rule(call)
            return None
        return self._call(call, syntax, only_where)

    def _call(
        self, node: exp.Expr, syntax: AggregateSyntax, only_where: exp.Expr | None
    ) -> AggregateCall:

        def special(part: exp.Expr) -> Expression | None:
            subquery_value = self.subqueries(part, inner)
            return _no_aggregate(part) if subquery_value is None else subquery_value

        inner = ExpressionBinder(self.scope, special, self.parameters)
        written_conditions = [c for c in (only_where, syntax.condition) if c is not None]
        conditions = tuple(inner.condition(c) for c in written_conditions)
        only_rows = conjunction(conditions) if conditions else None
        function, at = syntax.function, span(node)
        name = function.value
        if any(isinstance(a, exp.Star) for a in syntax.arguments):
            raise unsupported(node, f"{name} of *", f"name what is meant: {name}(DISTINCT (a, b))")
        arguments = tuple(_argument(a, inner, syntax) for a in syntax.arguments)
        if not arguments and function is not AggregateFunction.COUNT:
            raise unsupported(node, f"{name} of nothing", f"name a column: {name}(x)")
        if len(arguments) != _arity(function) and arguments:
            raise unsupported(node, f"{name} of {len(arguments)} arguments", _usage(function))
        if function is AggregateFunction.COUNT and not syntax.distinct:
            arguments = tuple(a for a in arguments if not _never_null(a))
        types = [a.type for a in arguments]
        kind = syntax.type or result_type(function, types)
        if kind is None:
            raise TypeFault(
                f"{name}({', '.join(map(str, types))}) has no rule",
                at=at,
                hint=conversion_hint(function, arguments),
            )
        if is_summed(function):
            arguments = tuple(summable(a, node) for a in arguments)
        if function is OpenFunction.STRING_AGG and not isinstance(arguments[1], Literal):
            raise Refused(
                "the separator of string_agg() is a constant",
                at=at,
                hint=f"string_agg({describe(arguments[0])}, ', ')",
                note="open_aggregates",
            )
        fraction = (
            None
            if syntax.fraction is None
            else fraction_of(syntax.fraction, inner, at, descending=syntax.descending)
        )
        order = (
            ()
            if syntax.order is None
            else distinguishing_keys(order_terms(syntax.order, inner.bind))
        )
        if syntax.distinct and any(term.expression != arguments[0] for term in order):
            shown = describe(arguments[0])
            raise GroupingFault(
                f"distinct values of {shown} are in the order of something else",
                at=at,
                hint=f"{name}(DISTINCT {shown} … ORDER BY {shown})",
            )
        if not isinstance(function, OpenFunction):
            order = ()  # the same in any order
        # The minimum of distinct values is the minimum of all.
        distinct = syntax.distinct and function not in _EXTREMES
        return AggregateCall(
            function,
            arguments,
            distinct,
            only_rows,
            kind,
            fraction,
            from_above=syntax.descending and fraction != 1,
            order=order,
            at=at,
        )

    def _column(self, call: AggregateCall) -> Column:
        for output in self.outputs:
            if output.call == call:
                return output.column
        shown = ", ".join(map(describe, call.arguments)) or "*"
        name = f"{call.function.value}({shown})"
        if call.output_kind is not OutputKind.VALUE:
            name = f"{call.output_kind.value}({name})"
        column = self.names.column(name, call.type)
        self.outputs.append(AggregateOutput(column, call))
        return column

    def _no_rule(self, node: exp.Expr) -> Refused:
        name = node.sql(dialect="duckdb", comments=False).split("(")[0].lower()
        hint = function_instead(node) or "ask for count, sum, avg, stddev, corr or median"
        return Refused(f"{name}() has no rule", at=span(node), hint=hint, note="refused_functions")


def has_aggregate(node: exp.Expr) -> bool:
    """Whether `node` holds an aggregate: not of a subquery, nor used as a window function."""
    if isinstance(node, exp.Select | exp.SetOperation):
        return False
    if isinstance(node, exp.Window):
        parts = [node.args.get("order"), *(node.args.get("partition_by") or [])]
        call = node.this
        while isinstance(call, exp.IgnoreNulls | exp.RespectNulls | exp.Filter | exp.WithinGroup):
            parts.append(call.args.get("expression"))
            call = call.this
        inner = list(call.iter_expressions())
        return any(has_aggregate(part) for part in [*parts, *inner] if part is not None)
    if is_aggregate(node):
        return True
    return any(has_aggregate(child) for child in node.iter_expressions())


def no_aggregate(node: exp.Expr) -> Expression | None:
    """Refuse `node` by GroupingFault if it is an aggregate, in WHERE or GROUP BY; else None."""
    if is_aggregate(node) or isinstance(node, exp.Filter | exp.Window):
        raise GroupingFault(
            "an aggregate or window function can't stand in WHERE or GROUP BY",
            at=span(node),
            hint="put a condition on an aggregate into HAVING, on a window into QUALIFY",
        )
    return None


def _no_aggregate(node: exp.Expr) -> Expression | None:
    if is_aggregate(node) or isinstance(node, exp.Filter):
        raise GroupingFault(
            "an aggregate can't stand here", at=span(node), hint="aggregate in a subquery first"
        )
    return None


def _argument(node: exp.Expr, binder: ExpressionBinder, syntax: AggregateSyntax) -> Expression:
    """The argument `node`, bound. A row value, (a, b), isn't NULL even if all its fields are."""
    parts = row_parts(node)
    if parts is None or syntax.function is not AggregateFunction.COUNT:
        return binder.bind(node)
    values = [binder.bind(part) for part in parts]
    return row_text(values, node) if syntax.distinct else Literal(1, COUNT_TYPE)


def _never_null(argument: Expression) -> bool:
    """Whether `argument` is a constant, so that its count is that of rows: count(1)."""
    return isinstance(argument, Literal) and argument.value is not None


_EXTREMES = frozenset({AggregateFunction.MIN, AggregateFunction.MAX})

_NOISE_PROPERTIES = {kind.value: kind for kind in OutputKind if kind is not OutputKind.VALUE}


def _noise_property(node: exp.Expr) -> OutputKind | None:
    """What `node` asks of an aggregate's noise, as dp_stddev(count(*)) does; None if nothing."""
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        return _NOISE_PROPERTIES.get(node.name.lower())
    return None


def _no_aggregate_in(output_kind: OutputKind, node: exp.Expr) -> GroupingFault:
    return GroupingFault(
        f"{output_kind.value}() takes an aggregate, whose noise it tells of",
        at=span(node),
        hint=f"{output_kind.value}(count(*)), beside the count(*) itself",
    )


def _usage(function: AggregateFunction | OpenFunction) -> str:
    return f"write {function.value}({', '.join('xy'[: _arity(function)])})"


def _arity(function: AggregateFunction | OpenFunction) -> int:
    """How many arguments `function` takes."""
    return 2 if function in PAIRED | ARGUMENTS_OF_EXTREMES | {OpenFunction.STRING_AGG} else 1
