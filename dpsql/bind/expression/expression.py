"""Scalar expressions of a statement, typed; one handler for each construct that has a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.bind.aggregate.derived_aggregate import written_out
from dpsql.bind.expression import literal as constant
from dpsql.bind.expression.arithmetic import combined, midnights, shifted
from dpsql.bind.expression.cast import castable, convert
from dpsql.bind.expression.coercion import adapted, common_type, is_comparable, is_number
from dpsql.bind.expression.collation import collated
from dpsql.bind.expression.conditional import (
    bind_case,
    bind_coalesce,
    bind_if,
    bind_nullif,
    bind_typeof,
)
from dpsql.bind.expression.interval_literal import Length, length
from dpsql.bind.expression.predicate import (
    bind_between,
    bind_connective,
    bind_in,
    bind_is,
    bind_quantified,
    quantified_list,
)
from dpsql.bind.expression.row_value import compare_rows, row_parts
from dpsql.bind.expression.time_difference import microseconds, time_difference
from dpsql.bind.function.function_call import bind_call, function_call, registered
from dpsql.bind.function.irregular_functions import is_negated, unnegated, with_unit_argument
from dpsql.bind.function.width_bucket import width_bucket
from dpsql.bind.scope import Scope
from dpsql.bind.syntax.allowlist import require_args, unlisted, unsupported
from dpsql.bind.syntax.complexity import Sizes
from dpsql.bind.syntax.construct_name import cast_words
from dpsql.bind.syntax.parameter import value_of
from dpsql.bind.syntax.parse import span
from dpsql.errors import DataError, TypeFault
from dpsql.plan.expression import (
    Arithmetic,
    ArithmeticOperator,
    Compare,
    Comparison,
    Expression,
    Literal,
    Not,
)
from dpsql.plan.expression_text import describe
from dpsql.schema.sql_type import Boolean, Date, Integer, Interval, Null, Varchar, parse_type

__all__ = ["ExpressionBinder", "Special", "convert"]

Special = Callable[[exp.Expr], Expression | None]
"""Binds nodes that aren't scalar expressions (aggregates, subqueries); None for the others."""

COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.UNEQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.LESS_EQUAL,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.GREATER_EQUAL,
    exp.NullSafeEQ: Comparison.NOT_DISTINCT,
    exp.NullSafeNEQ: Comparison.DISTINCT,
}

_ARITHMETIC: dict[type[exp.Expr], ArithmeticOperator] = {
    exp.Add: ArithmeticOperator.ADD,
    exp.Sub: ArithmeticOperator.SUBTRACT,
    exp.Mul: ArithmeticOperator.MULTIPLY,
    exp.Div: ArithmeticOperator.DIVIDE,
}

_ZONED = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")

_NO_PARAMETERS: Mapping[str, Literal] = MappingProxyType({})


class ExpressionBinder:
    """Binds the expressions of one SELECT over its scope."""

    def __init__(
        self, scope: Scope, special: Special, parameters: Mapping[str, Literal] = _NO_PARAMETERS
    ) -> None:
        self._scope = scope
        self._special = special
        self._parameters = parameters
        self._sizes = Sizes()

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression that `node` is."""
        return self._sizes.checked(self._bind(node), node)

    def _bind(self, node: exp.Expr) -> Expression:  # noqa: C901, PLR0911, PLR0912
        derived = written_out(node)
        if derived is not None:
            return self.bind(derived)
        special = self._special(node)
        if special is not None:
            return special
        match node:
            case exp.Column():
                require_args(node, "this", "table", "db", "catalog")
                if not isinstance(node.this, exp.Identifier):
                    raise unlisted(node)
                return self._scope.column(node)
            case exp.Paren():
                require_args(node, "this")
                return self.bind(node.this)
            case exp.Like() | exp.ILike() | exp.Escape() if is_negated(node):
                return Not(self.condition(unnegated(node)))
            case exp.Parameter() | exp.Placeholder():
                return value_of(node, self._parameters)
            case exp.Literal():
                if node.is_string:
                    return Literal(node.this, Varchar())
                return constant.number(node.this, span(node))
            case exp.Boolean():
                return Literal(bool(node.this), Boolean())
            case exp.Null():
                return Literal(None, Null())
            case exp.Neg():
                return self._negated(node)
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                return self._arithmetic(node)
            case exp.And() | exp.Or():
                return bind_connective(self, node)
            case exp.Not():
                return Not(self.condition(node.this))
            case exp.Between():
                return bind_between(self, node)
            case exp.In():
                return bind_in(self, node)
            case exp.Is():
                return bind_is(self, node)
            case exp.Case():
                return bind_case(self, node)
            case exp.WidthBucket():
                return self.bind(width_bucket(node, self.bind))
            case exp.If():
                return bind_if(self, node)
            case exp.Coalesce():
                return bind_coalesce(self, node)
            case exp.Typeof():
                return bind_typeof(self, node)
            case exp.Nullif():
                return bind_nullif(self, node)
            case exp.Cast() | exp.TryCast():
                return self._cast(node)
            case exp.Date():
                require_args(node, "this")
                return convert(self.bind(node.this), Date(), node)
            case exp.DateAdd():
                require_args(node, "this", "expression")
                return self._arithmetic(exp.Add(this=node.this, expression=node.expression))
            case exp.Interval():
                raise unsupported(node, "an INTERVAL by itself", "add it to a date or a timestamp")
            case _:
                return self._by_class(node)

    def _by_class(self, node: exp.Expr) -> Expression:
        if type(node) in COMPARISONS:
            require_args(node, "this", "expression")
            listed = quantified_list(node.expression)
            if listed is not None:
                return bind_quantified(self, COMPARISONS[type(node)], node.this, listed)
            return self.compare(COMPARISONS[type(node)], node.this, node.expression)
        call = function_call(with_unit_argument(node, self._parameters))
        if call is None:
            raise unlisted(node)
        return self._call(node, *call)

    def condition(self, node: exp.Expr) -> Expression:
        """The boolean expression that `node` is; TypeFault for other types."""
        bound = self.bind(node)
        if isinstance(bound.type, Null):
            return Literal(None, Boolean())
        if not isinstance(bound.type, Boolean):
            raise TypeFault(
                f"{describe(bound)} is {bound.type}, and a condition is needed", at=span(node)
            )
        return bound

    def _negated(self, node: exp.Neg) -> Expression:
        operand = self.bind(node.this)
        if isinstance(operand, Literal) and is_number(operand.type) and operand.value is not None:
            return constant.negated(operand)
        zero = Literal(0, Integer(32))
        kind = operand.type
        if not is_number(kind):
            raise TypeFault(f"{describe(operand)} is {kind}, and can't be negated", at=span(node))
        return Arithmetic(ArithmeticOperator.SUBTRACT, zero, operand, kind)

    def _arithmetic(self, node: exp.Expr) -> Expression:
        require_args(node, "this", "expression", "typed", "safe")
        if isinstance(node, exp.Add | exp.Sub):
            moved = self._moved(node, length(node.this), length(node.expression))
            if moved is not None:
                return moved
        left, right = self.bind(node.this), self.bind(node.expression)
        return combined(_ARITHMETIC[type(node)], left, right, node)

    def _moved(
        self, node: exp.Expr, left: Length | None, right: Length | None
    ) -> Expression | None:
        """A moment plus or less a length of time; None unless just one operand is a length."""
        if (left is None) == (right is None):
            return None
        by, base, sign = (right, node.this, 1) if right else (left, node.expression, 1)
        if isinstance(node, exp.Sub):
            if right is None:
                raise unsupported(node, "an INTERVAL less a moment", "moment - INTERVAL 1 DAY")
            sign = -1
        assert by is not None
        count = None if by.count is None else self.bind(by.count)
        return shifted(self.bind(base), by, count, sign, node)

    def compare(self, op: Comparison, left: exp.Expr, right: exp.Expr) -> Expression:
        """`left op right`, both converted to one type."""
        if row_parts(left) is not None or row_parts(right) is not None:
            return compare_rows(self, op, left, right)
        lengths = microseconds(left, right, self)
        if lengths is not None:
            return Compare(op, *lengths)
        left, right = collated([left, right])
        a, b = self.unify([*midnights(self.bind(left), self.bind(right))], [left, right])
        return Compare(op, a, b)

    def unified(self, nodes: list[exp.Expr]) -> list[Expression]:
        """The expressions converted to their common type; text constants take the others' type."""
        return self.unify([self.bind(node) for node in nodes], nodes)

    def unify(self, bound: list[Expression], nodes: list[exp.Expr]) -> list[Expression]:
        """`bound` converted to their common type."""
        typed = [e for e in bound if not _is_text_constant(e)]
        kind = common_type(adapted(typed))
        if isinstance(kind, Null):
            # CASE WHEN … THEN 'a' END; of nothing but NULLs a column is of integers, as DuckDB's.
            kind = Varchar() if len(typed) < len(bound) else Integer(32)
        if kind is None or not is_comparable(kind):
            names = " and ".join(str(e.type) for e in bound)
            target = bound[-1].type if castable(bound[0].type, bound[-1].type) else Varchar()
            raise TypeFault(
                f"values of types {names} don't mix",
                at=span(nodes[0]),
                hint=f"convert one of them: CAST({describe(bound[0])} AS {target})",
            )
        return [convert(e, kind, node) for e, node in zip(bound, nodes, strict=True)]

    def _cast(self, node: exp.Expr) -> Expression:
        require_args(node, "this", "to", "safe", "requires_string")
        name = node.args["to"].sql(dialect="duckdb")
        operand = self.bind(node.this)
        target = parse_type(name)
        if name in _ZONED and isinstance(operand, Literal):
            return constant.in_utc(operand, span(node))
        if target is None:
            raise unsupported(node, *cast_words(name))
        try:
            return convert(operand, target, node)
        except DataError:
            if isinstance(node, exp.TryCast):
                return Literal(None, target)
            raise

    def _call(self, node: exp.Expr, name: str, arguments: list[exp.Expr]) -> Expression:
        if name in ("if", "iff") and len(arguments) == 3:
            return bind_if(
                self, exp.If(**dict(zip(("this", "true", "false"), arguments, strict=True)))
            )
        if len(arguments) == 1:
            difference = time_difference(name, arguments[0], node, self)
            if difference is not None:
                return difference
        if name == "date_add" and len(arguments) == 2:
            moment, step = arguments
            return self._arithmetic(exp.Add(this=moment, expression=step))
        function = registered(name, node)
        bound = [self._argument(argument) for argument in arguments]
        if function.unify:
            bound = self.unify(bound, arguments)
        return bind_call(function, tuple(bound), node)

    def _argument(self, node: exp.Expr) -> Expression:
        """An argument of a function: a constant length of time can be one too."""
        interval = length(node)
        if interval is None or interval.count is not None:
            return self.bind(node)
        return Literal(str(interval.duration), Interval())


def _is_text_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal) and isinstance(expression.type, Varchar)
