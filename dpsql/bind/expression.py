"""Scalar expressions of a statement, typed; one handler for each construct that has a rule."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.bind import literal as constant
from dpsql.bind.allow import only, refused
from dpsql.bind.call import bind_call, function_call, unknown_function
from dpsql.bind.coercion import arithmetic_type, common_type, is_comparable, is_number
from dpsql.bind.interval import shift
from dpsql.bind.parse import span
from dpsql.bind.scope import Scope
from dpsql.errors import BadParameter, Refused, TypeFault
from dpsql.plan.describe import describe
from dpsql.plan.expression import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Case,
    Cast,
    Compare,
    Comparison,
    Expression,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    When,
)
from dpsql.plan.function import FUNCTIONS
from dpsql.schema.type import (
    Boolean,
    Date,
    Integer,
    Interval,
    Null,
    SqlType,
    Timestamp,
    Varchar,
    parse_type,
)

Special = Callable[[exp.Expr], Expression | None]
"""Binds what isn't scalar (aggregates, subqueries); None for the rest."""

_COMPARISONS: dict[type[exp.Expr], Comparison] = {
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


_NO_PARAMETERS: Mapping[str, Literal] = MappingProxyType({})


class ExpressionBinder:
    """Binds the expressions of one SELECT over its scope."""

    def __init__(
        self, scope: Scope, special: Special, parameters: Mapping[str, Literal] = _NO_PARAMETERS
    ) -> None:
        self._scope = scope
        self._special = special
        self._parameters = parameters

    def bind(self, node: exp.Expr) -> Expression:  # noqa: C901, PLR0911, PLR0912
        """The typed expression that `node` is."""
        found = self._special(node)
        if found is not None:
            return found
        match node:
            case exp.Column():
                only(node, "this", "table")
                if not isinstance(node.this, exp.Identifier):
                    raise refused(node)
                return self._scope.resolve(node.name, node.table or None, span(node))
            case exp.Paren():
                only(node, "this")
                return self.bind(node.this)
            case exp.Parameter() | exp.Placeholder():
                return self._parameter(node)
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
                return self._connective(node)
            case exp.Not():
                return Not(self.condition(node.this))
            case exp.Between():
                only(node, "this", "low", "high")
                return And(
                    (
                        self._compare(Comparison.GREATER_EQUAL, node.this, node.args["low"]),
                        self._compare(Comparison.LESS_EQUAL, node.this, node.args["high"]),
                    )
                )
            case exp.In():
                return self._in(node)
            case exp.Is():
                return self._is(node)
            case exp.Case():
                return self._case(node)
            case exp.If():
                return self._if(node)
            case exp.Coalesce():
                return self._coalesce(node)
            case exp.Nullif():
                left = self.bind(node.this)
                equal = self._compare(Comparison.EQUAL, node.this, node.expression)
                return Case((When(equal, Literal(None, left.type)),), left, left.type)
            case exp.Cast() | exp.TryCast():
                return self._cast(node)
            case _:
                return self._by_class(node)

    def _by_class(self, node: exp.Expr) -> Expression:
        if type(node) in _COMPARISONS:
            only(node, "this", "expression")
            return self._compare(_COMPARISONS[type(node)], node.this, node.expression)
        call = function_call(node)
        if call is None:
            raise refused(node)
        return self._call(node, *call)

    def _parameter(self, node: exp.Expr) -> Literal:
        """The constant that was given for `$1` or `:name`."""
        name = node.name
        if name not in self._parameters:
            raise BadParameter(
                f"no value is given for parameter {name or '?'}",
                at=span(node),
                hint="pass one value for each parameter",
            )
        return self._parameters[name]

    def condition(self, node: exp.Expr) -> Expression:
        """A boolean expression."""
        found = self.bind(node)
        if isinstance(found.type, Null):
            return Literal(None, Boolean())
        if not isinstance(found.type, Boolean):
            raise TypeFault(
                f"{describe(found)} is {found.type}, and a condition is needed", at=span(node)
            )
        return found

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
        only(node, "this", "expression", "typed", "safe")
        if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
            return self._shifted(node)
        op = _ARITHMETIC[type(node)]
        left, right = self.bind(node.this), self.bind(node.expression)
        if isinstance(left.type, Null):
            left = Literal(None, right.type)
        if isinstance(right.type, Null):
            right = Literal(None, left.type)
        kind = arithmetic_type(op, left.type, right.type)
        if kind is None:
            raise TypeFault(
                f"{left.type} {op.value} {right.type} has no rule",
                at=span(node),
                hint="convert the operands with CAST(… AS …) to numbers",
            )
        return Arithmetic(op, left, right, kind)

    def _shifted(self, node: exp.Expr) -> Expression:
        """A constant date moved by an interval: DuckDB makes it a timestamp."""
        base = self.bind(node.this)
        if not isinstance(base, Literal) or not isinstance(base.value, dt.date):
            raise Refused(
                "an interval can be added to a constant date only",
                at=span(node),
                hint="compare the column with DATE '1994-01-01' + INTERVAL 1 YEAR",
                note="scalar_functions",
            )
        start = constant.cast(base, Timestamp(), span(node)).value
        assert isinstance(start, dt.datetime)
        sign = 1 if isinstance(node, exp.Add) else -1
        return Literal(shift(start, node.expression, sign), Timestamp())

    def _connective(self, node: exp.Expr) -> Expression:
        kind = type(node)
        operands: list[exp.Expr] = []
        while type(node) is kind:
            only(node, "this", "expression")
            operands.append(node.expression)
            node = node.this
        operands.append(node)
        bound = tuple(self.condition(operand) for operand in reversed(operands))
        return And(bound) if kind is exp.And else Or(bound)

    def _compare(self, op: Comparison, left: exp.Expr, right: exp.Expr) -> Expression:
        a, b = self.unified([left, right])
        return Compare(op, a, b)

    def unified(self, nodes: list[exp.Expr]) -> list[Expression]:
        """The expressions converted to their common type; text constants take the others' type."""
        return self.unify([self.bind(node) for node in nodes], nodes)

    def unify(self, bound: list[Expression], nodes: list[exp.Expr]) -> list[Expression]:
        """`bound` converted to their common type."""
        typed = [e.type for e in bound if not _is_text_constant(e)] or [Varchar()]
        kind = common_type(typed)
        if kind is None or not is_comparable(kind):
            names = " and ".join(str(e.type) for e in bound)
            raise TypeFault(
                f"values of types {names} don't mix",
                at=span(nodes[0]),
                hint=f"convert one of them: CAST({describe(bound[0])} AS {bound[-1].type})",
            )
        return [convert(e, kind, node) for e, node in zip(bound, nodes, strict=True)]

    def _in(self, node: exp.In) -> Expression:
        only(node, "this", "expressions")
        nodes = [node.this, *node.expressions]
        operand, *values = self.unified(nodes)
        constants: list[Literal] = []
        for value, where in zip(values, node.expressions, strict=True):
            if not isinstance(value, Literal):
                raise refused(where, "IN with anything but constants")
            constants.append(value)
        return InList(operand, tuple(constants))

    def _is(self, node: exp.Is) -> Expression:
        only(node, "this", "expression")
        match node.expression:
            case exp.Null():
                return IsNull(self.bind(node.this))
            case exp.Boolean() as truth:
                known = Literal(bool(truth.this), Boolean())
                return Compare(Comparison.NOT_DISTINCT, self.condition(node.this), known)
            case _:
                raise refused(node)

    def _case(self, node: exp.Case) -> Expression:
        only(node, "this", "ifs", "default")
        subject = node.args.get("this")
        conditions = [
            self.condition(branch.this)
            if subject is None
            else self._compare(Comparison.EQUAL, subject, branch.this)
            for branch in node.args["ifs"]
        ]
        results = [branch.args["true"] for branch in node.args["ifs"]]
        default = node.args.get("default") or exp.Null()
        *values, otherwise = self.unified([*results, default])
        branches = tuple(When(c, v) for c, v in zip(conditions, values, strict=True))
        return Case(branches, otherwise, otherwise.type)

    def _if(self, node: exp.If) -> Expression:
        only(node, "this", "true", "false")
        condition = self.condition(node.this)
        true, false = self.unified([node.args["true"], node.args.get("false") or exp.Null()])
        return Case((When(condition, true),), false, true.type)

    def _coalesce(self, node: exp.Coalesce) -> Expression:
        only(node, "this", "expressions")
        *values, last = self.unified([node.this, *node.expressions])
        branches = tuple(When(Not(IsNull(value)), value) for value in values)
        return Case(branches, last, last.type) if branches else last

    def _cast(self, node: exp.Expr) -> Expression:
        only(node, "this", "to", "safe", "requires_string")
        target = parse_type(node.args["to"].sql(dialect="duckdb"))
        if target is None or isinstance(target, Interval):
            raise refused(node, f"CAST to {node.args['to'].sql(dialect='duckdb')}")
        return convert(self.bind(node.this), target, node)

    def _call(self, node: exp.Expr, name: str, arguments: list[exp.Expr]) -> Expression:
        function = FUNCTIONS.get(name)
        if function is None:
            raise unknown_function(node)
        bound = [self.bind(argument) for argument in arguments]
        if function.unify:
            bound = self.unify(bound, arguments)
        return bind_call(node, name, tuple(bound))


def convert(expression: Expression, target: SqlType, node: exp.Expr) -> Expression:
    """`expression` as `target`: constants now, others as the engine tries it."""
    if expression.type == target:
        return expression
    if isinstance(expression, Literal):
        return constant.cast(expression, target, span(node))
    if not castable(expression.type, target):
        raise TypeFault(f"{expression.type} can't be cast to {target}", at=span(node))
    return Cast(expression, target)


def castable(source: SqlType, target: SqlType) -> bool:
    """Casts that DuckDB has; those that can fail give NULL."""
    if is_number(source) and (is_number(target) or isinstance(target, Varchar | Boolean)):
        return True
    match source, target:
        case Varchar(), _:
            return True
        case ((Date() | Timestamp()), (Date() | Timestamp() | Varchar())):
            return True
        case Boolean(), (Integer() | Varchar()):
            return True
        case _:
            return False


def _is_text_constant(expression: Expression) -> bool:
    return isinstance(expression, Literal) and isinstance(expression.type, Varchar)
