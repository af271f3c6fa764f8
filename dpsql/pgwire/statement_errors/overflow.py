"""Numerics of more digits than the pipeline's decimals have: PostgreSQL's have as many as it takes.

An operator whose value doesn't fit is NULL in the pipeline, so that a statement is refused where
the ranges of its operands don't prove that it fits.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from fractions import Fraction
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.bind.statement import Statement
from dpsql.errors import DataError, NotSupportedError
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.expression import Arithmetic, Call, Case, Cast, Column, Expression, Literal
from dpsql.plan.operator import Aggregate, Plan, Project, Release, Scan, Window, WindowCall
from dpsql.plan.traversal import expressions, operands, operators, subexpressions
from dpsql.privacy.domain import Domain
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType, Varchar
from dpsql.session.compile.deep_recursion import with_deep_stack

_ROWS: Final = 10**9
"""As many rows are summed at most, each as large as its type allows."""
_WIDEST: Final = 128

Range = tuple[Fraction, Fraction]
"""The ends of a number's values."""


class OutOfRange(DataError):
    """A constant is larger than its type allows."""

    sqlstate = "22003"


class TooManyDigits(NotSupportedError):
    """A numeric may have more digits than a decimal: even a question for columns is refused."""


class DigitCheck:
    """Proves of statements, once each, that their numerics fit; connections share it."""

    def __init__(self, size: int) -> None:
        """The last `size` statements are remembered."""
        self._guard = threading.Lock()
        self._size = size
        # A statement is held, so that its id stays its own.
        self._proved: dict[int, Statement] = {}

    def check(self, statement: Statement, generic: Statement | None = None) -> None:
        """Raise unless all sums, differences and products of numerics are proved to fit.

        What is proved of `generic`, which has parameters where `statement` has constants, holds
        whatever these are: of a parameter nothing is known but its type.
        """
        if generic is not None:
            with suppress(OutOfRange, TooManyDigits):
                self.check(generic)
                return
        if self._proved.get(id(statement)) is statement:
            return
        check_digits(statement)
        with self._guard:
            self._proved[id(statement)] = statement
            if len(self._proved) > self._size:
                del self._proved[next(iter(self._proved))]


def check_digits(statement: Statement) -> None:
    """Raise unless all sums, differences and products of numerics are proved to fit."""
    with_deep_stack(lambda: _check_plan(statement.plan))


def _check_plan(plan: Plan) -> None:
    plans = list(operators(plan))
    ranges = _Ranges(plans)
    for part in plans:
        for whole in expressions(part):
            for node in subexpressions(whole):
                if isinstance(node, Arithmetic):
                    _check(node, ranges)


def _check(node: Arithmetic, ranges: _Ranges) -> None:
    own, limits = ranges.computed(node), _limits(node.type)
    if own is None or limits is None or (limits[0] <= own[0] and own[1] <= limits[1]):
        return
    match node:
        case Arithmetic(left=Literal(), right=Literal(), type=Integer(bits=bits)) if bits < _WIDEST:
            name = {16: "smallint", 32: "integer"}.get(bits, "bigint")
            raise OutOfRange(f"{name} out of range", hint="write one of them as x::numeric")
        case Arithmetic(type=Decimal() | Integer(bits=128)):
            raise TooManyDigits(
                "a numeric has 38 digits at most here, and this one may have more",
                hint="make room for 38 by one operand of 19, x::numeric(19,2), declare bounds of"
                " columns, or compute in x::float8",
            )
        case _:
            pass  # PostgreSQL has no value where an integer overflows.


class _Ranges:
    """The ranges of a plan's numbers: of constants, of types, and of what is computed of them."""

    def __init__(self, plans: list[Plan]) -> None:
        self._meant: dict[Column, Expression | AggregateCall | WindowCall] = {}
        self._known: dict[Column, Range | None] = {}
        for plan in plans:
            if isinstance(plan, Scan):
                declared = column_domains(plan)
                self._known |= {
                    c: _declared(declared[c.id], c.type) for c in plan.columns if c.id in declared
                }
            if isinstance(plan, Project):
                self._meant |= {o.column: o.expression for o in plan.outputs}
            if isinstance(plan, Aggregate | Release):
                self._meant |= {o.column: o.expression for o in plan.keys}
                self._meant |= {o.column: o.call for o in plan.aggregates}
            if isinstance(plan, Window):
                self._meant |= {o.column: o.call for o in plan.outputs}

    def of(self, node: Expression) -> Range | None:
        match node:
            case Literal(value=int() | Fraction() as value):
                return Fraction(value), Fraction(value)
            case Literal(value=None):
                return None  # what is computed with NULL is NULL, and fits
            case Column() if node in self._known:
                return self._known[node]
            case Column() if node in self._meant:
                own = _cut_to(self._of_meaning(self._meant[node]), node.type)
                return self._known.setdefault(node, own)
            case Arithmetic():
                return _cut_to(self.computed(node), node.type)
            case Call(function="%", arguments=(_, Literal(value=int() as divisor))) if divisor:
                return Fraction(1 - abs(divisor)), Fraction(abs(divisor) - 1)
            case Case() | Cast() if isinstance(node.type, Integer):
                return _cut_to(self._around(node), node.type)
            case Case() | Call() | Cast() if isinstance(node.type, Decimal):
                return _cut_to(self._around(node), node.type)
            case _:
                return _limits(node.type)

    def computed(self, node: Arithmetic) -> Range | None:
        """The range of an operator's values, be they within its type's or not."""
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None:
            return None
        (low, high), (other_low, other_high) = left, right
        match node.op.value:
            case "+":
                return low + other_low, high + other_high
            case "-":
                return low - other_high, high - other_low
            case "*":
                products = [a * b for a in (low, high) for b in (other_low, other_high)]
                return min(products), max(products)
            case _:
                return None

    def _of_meaning(self, meaning: Expression | AggregateCall | WindowCall) -> Range | None:
        match meaning:
            case AggregateCall(function=AggregateFunction.SUM, arguments=(argument,)):
                return _summed(self.of(argument))
            case WindowCall(function="sum", arguments=(argument,)):
                return _summed(self.of(argument))
            case AggregateCall() | WindowCall():
                return _limits(meaning.type)
            case _:
                return self.of(meaning)

    def _around(self, node: Expression) -> Range | None:
        """A range around all operands, for functions that choose, cut or round one of them."""
        largest = Fraction(1)
        for operand in operands(node):
            ends = self.of(operand)
            if ends is not None:
                largest = max(largest, *map(abs, ends))
            elif isinstance(operand.type, Double | Varchar):
                return None
        return -largest - 1, largest + 1


def _declared(domain: Domain, kind: SqlType) -> Range | None:
    return _cut_to(None if domain.bounds is None else domain.bounds.ends, kind)


def _cut_to(own: Range | None, kind: SqlType) -> Range | None:
    limits = _limits(kind)
    if own is None or limits is None:
        return limits
    return max(own[0], limits[0]), min(own[1], limits[1])


def _summed(own: Range | None) -> Range | None:
    return None if own is None else (min(own[0] * _ROWS, own[0]), max(own[1] * _ROWS, own[1]))


def _limits(kind: SqlType) -> Range | None:
    """The ends of a type of exact numbers; None of another type."""
    match kind:
        case Decimal(precision=precision, scale=scale):
            end = Fraction(10**precision - 1, 10**scale)
            return -end, end
        case Integer(bits=bits, signed=signed):
            if not signed:
                return Fraction(0), Fraction((1 << bits) - 1)
            return Fraction(-(1 << bits - 1)), Fraction((1 << bits - 1) - 1)
        case _:
            return None
