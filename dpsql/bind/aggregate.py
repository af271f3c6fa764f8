"""Aggregate calls of a SELECT: collected once each, whoever writes them how often."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dpsql.bind.allow import only, refused
from dpsql.bind.coercion import COUNT_TYPE, sum_type
from dpsql.bind.expression import ExpressionBinder, convert
from dpsql.bind.name import Names
from dpsql.bind.parameter import Parameters
from dpsql.bind.parse import span
from dpsql.bind.scope import Scope
from dpsql.errors import GroupingFault, Refused, TypeFault
from dpsql.plan.describe import describe
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.schema.type import Boolean, Double, SqlType

_FUNCTIONS: dict[type[exp.Expr], AggregateFunction] = {
    exp.Count: AggregateFunction.COUNT,
    exp.Sum: AggregateFunction.SUM,
    exp.Avg: AggregateFunction.AVG,
    exp.Min: AggregateFunction.MIN,
    exp.Max: AggregateFunction.MAX,
}


@dataclass(slots=True)
class Aggregates:
    """The aggregates of one SELECT, each with the column that will hold it."""

    scope: Scope
    names: Names
    parameters: Parameters = field(default_factory=dict)
    found: list[AggregateOutput] = field(default_factory=list)

    def bind(self, node: exp.Expr) -> Column | None:
        """The column of the aggregate that `node` is; None if it isn't one."""
        only_where: exp.Expr | None = None
        call = node
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            call, only_where = node.this, node.expression.this
        if isinstance(call, exp.IgnoreNulls):
            # DuckDB's any_value and their like skip NULLs, which sqlglot writes around them.
            call = call.this
        if type(call) not in _FUNCTIONS:
            if isinstance(call, exp.AggFunc) or call is not node:
                raise self._no_rule(call)
            return None
        return self._column(self._call(call, only_where))

    def _call(self, node: exp.Expr, only_where: exp.Expr | None) -> AggregateCall:
        only(node, "this", "big_int")
        inner = ExpressionBinder(self.scope, _no_aggregate, self.parameters)
        function = _FUNCTIONS[type(node)]
        only_rows = None if only_where is None else inner.condition(only_where)
        distinct = isinstance(node.this, exp.Distinct)
        if distinct:
            only(node.this, "expressions")
            if len(node.this.expressions) != 1:
                raise refused(node, "DISTINCT over several columns")
            argument_node = node.this.expressions[0]
        else:
            argument_node = node.this
        if argument_node is None or isinstance(argument_node, exp.Star):
            if function is not AggregateFunction.COUNT or distinct:
                raise refused(node, f"{function.value} of *")
            return AggregateCall(function, None, False, only_rows, COUNT_TYPE, span(node))
        argument = inner.bind(argument_node)
        return self._typed(node, function, argument, distinct, only_rows)

    def _typed(
        self,
        node: exp.Expr,
        function: AggregateFunction,
        argument: Expression,
        distinct: bool,  # noqa: FBT001
        only_rows: Expression | None,
    ) -> AggregateCall:
        kind = self._type(function, argument.type)
        if kind is None:
            raise TypeFault(
                f"{function.value}({argument.type}) has no rule",
                at=span(node),
                hint=f"convert it: {function.value}(CAST({describe(argument)} AS DOUBLE))",
            )
        if function is AggregateFunction.COUNT and not distinct and _never_null(argument):
            return AggregateCall(function, None, False, only_rows, kind, span(node))
        summed = function in (AggregateFunction.SUM, AggregateFunction.AVG)
        if isinstance(argument.type, Boolean) and summed:
            argument = convert(argument, COUNT_TYPE, node)
        return AggregateCall(function, argument, distinct, only_rows, kind, span(node))

    def _type(self, function: AggregateFunction, argument: SqlType) -> SqlType | None:
        match function:
            case AggregateFunction.COUNT:
                return COUNT_TYPE
            case AggregateFunction.SUM:
                return sum_type(argument)
            case AggregateFunction.AVG:
                return None if sum_type(argument) is None else Double()
            case AggregateFunction.MIN | AggregateFunction.MAX:
                return argument

    def _column(self, call: AggregateCall) -> Column:
        for output in self.found:
            if output.call == call:
                return output.column
        shown = "*" if call.argument is None else describe(call.argument)
        column = self.names.column(f"{call.function.value}({shown})", call.type)
        self.found.append(AggregateOutput(column, call))
        return column

    def _no_rule(self, node: exp.Expr) -> Refused:
        name = node.sql_name().lower() if isinstance(node, exp.Func) else node.key
        return Refused(
            f"{name}() has no rule",
            at=span(node),
            hint="ask for count, sum or avg",
            note="refused_functions",
        )


def has_aggregate(node: exp.Expr) -> bool:
    """An aggregate of this SELECT, not of a subquery's, nor one used as a window function."""
    if isinstance(node, exp.Select | exp.SetOperation):
        return False
    if isinstance(node, exp.Window):
        parts = [node.args.get("order"), *(node.args.get("partition_by") or [])]
        inner = list(node.this.iter_expressions())
        return any(has_aggregate(part) for part in [*parts, *inner] if part is not None)
    if isinstance(node, exp.AggFunc):
        return True
    return any(has_aggregate(child) for child in node.iter_expressions())


def no_aggregate(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate where rows are chosen or grouped."""
    if isinstance(node, exp.AggFunc | exp.Filter | exp.Window):
        raise GroupingFault(
            "an aggregate or window function can't stand in WHERE or GROUP BY",
            at=span(node),
            hint="put a condition on an aggregate into HAVING, on a window into QUALIFY",
        )
    return None


def _no_aggregate(node: exp.Expr) -> Expression | None:
    if isinstance(node, exp.AggFunc | exp.Filter):
        raise GroupingFault(
            "an aggregate can't stand here", at=span(node), hint="aggregate in a subquery first"
        )
    return None


def _never_null(argument: Expression) -> bool:
    """count(1) counts rows."""
    return isinstance(argument, Literal) and argument.value is not None
