"""Scalar expressions: immutable data; each knows its type and nothing else.

l_extendedprice * (1 - l_discount)

Arithmetic(op=MULTIPLY, type=DECIMAL(18,4),
left=Column(id=6, name=l_extendedprice),
right=Arithmetic(op=SUBTRACT, left=Literal(1), right=Column(id=7, name=l_discount)))
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

from msgspec import Struct

from dpsql.schema.sql_type import Boolean, Double, Integer, SqlType

Scalar = None | bool | int | Fraction | str | dt.date | dt.datetime
"""The value of a constant; None is NULL."""


class ArithmeticOperator(Enum):
    """Numeric operators; DIVIDE is float division, whatever the operands."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


class Comparison(Enum):
    """Comparisons; DISTINCT and NOT_DISTINCT are never NULL."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    DISTINCT = "IS DISTINCT FROM"
    NOT_DISTINCT = "IS NOT DISTINCT FROM"


class Literal(Struct, frozen=True):
    """A constant; decimals and doubles are both Fractions, which `type` distinguishes."""

    value: Scalar
    type: SqlType


class Parameter(Struct, frozen=True):
    """The constant `number` of a generic plan: any value of `type` but NULL, one for all rows.

    What is proved of the plan holds whatever the value is. `share` is how much of the rows its
    comparison is taken to leave, from 0 to 1; it decides time alone.
    """

    number: int
    type: SqlType
    share: Fraction


class Column(Struct, frozen=True):
    """A column of the operator's input, by its id, which no alias touches; `name` is for people."""

    id: int
    name: str
    type: SqlType


class Arithmetic(Struct, frozen=True):
    """`left op right`, NULL where it overflows or divides by zero."""

    op: ArithmeticOperator
    left: Expression
    right: Expression
    type: SqlType


class Compare(Struct, frozen=True):
    """`left op right`, both of one type."""

    op: Comparison
    left: Expression
    right: Expression

    @property
    def type(self) -> SqlType:
        """Comparisons are boolean."""
        return Boolean()


class And(Struct, frozen=True):
    """The conjunction of `operands`."""

    operands: tuple[Expression, ...]

    @property
    def type(self) -> SqlType:
        """Connectives are boolean."""
        return Boolean()


class Or(Struct, frozen=True):
    """The disjunction of `operands`."""

    operands: tuple[Expression, ...]

    @property
    def type(self) -> SqlType:
        """Connectives are boolean."""
        return Boolean()


class Not(Struct, frozen=True):
    """The negation of `operand`."""

    operand: Expression

    @property
    def type(self) -> SqlType:
        """Connectives are boolean."""
        return Boolean()


class IsNull(Struct, frozen=True):
    """`operand IS NULL`."""

    operand: Expression

    @property
    def type(self) -> SqlType:
        """A test is boolean."""
        return Boolean()


class InList(Struct, frozen=True):
    """`operand IN (values)`; the values are constants of the operand's type."""

    operand: Expression
    values: tuple[Literal, ...]

    @property
    def type(self) -> SqlType:
        """A test is boolean."""
        return Boolean()


class When(Struct, frozen=True):
    """One branch of a CASE: its result where its condition is true."""

    condition: Expression
    result: Expression


class Case(Struct, frozen=True):
    """The result of the first branch whose condition is true, else `otherwise`."""

    branches: tuple[When, ...]
    otherwise: Expression
    type: SqlType


class Cast(Struct, frozen=True):
    """`operand` as `type`; NULL where the cast fails."""

    operand: Expression
    type: SqlType


class Call(Struct, frozen=True):
    """A scalar function of the registry in `dpsql.plan.functions`."""

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType


Expression = (
    Literal
    | Parameter
    | Column
    | Arithmetic
    | Compare
    | And
    | Or
    | Not
    | IsNull
    | InList
    | Case
    | Cast
    | Call
)


def equated(conditions: Iterable[Expression]) -> list[tuple[Expression, Expression]]:
    """The two sides of each equality among `conditions`."""
    return [
        (c.left, c.right) for c in conditions if isinstance(c, Compare) and c.op is Comparison.EQUAL
    ]


def matched(conditions: Iterable[Expression]) -> list[tuple[Expression, Expression]]:
    """The two sides of each equality, without casts of integer columns to wider integers.

    An INTEGER compared with a BIGINT is converted to one, and is the same number.
    """
    return [(_as_it_was(left), _as_it_was(right)) for left, right in equated(conditions)]


def _as_it_was(expression: Expression) -> Expression:
    match expression:
        case Cast(operand=Column(type=Integer() as kind) as column, type=Integer() as wider):
            return column if wider.holds(kind) else expression
        case _:
            return expression


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """The predicates of which `predicate` is the conjunction."""
    if isinstance(predicate, And):
        return tuple(part for operand in predicate.operands for part in conjuncts(operand))
    return (predicate,)


def conjunction(predicates: tuple[Expression, ...]) -> Expression:
    """The conjunction of `predicates`; TRUE if there are none."""
    if not predicates:
        return Literal(True, Boolean())
    return predicates[0] if len(predicates) == 1 else And(predicates)


def double(value: Fraction) -> Literal:
    """A constant of type DOUBLE."""
    return Literal(value, Double())
