"""Caps by key: sums of values that are multiplied by their group's factor, under one cap.

sum(x) by state   with x in [0, 1000], and caps of 800 in TX, 50 in VT and in all other states

x * CASE WHEN state IN ('TX') THEN 16 ELSE 256 END   in [0, 256000], capped at 12,800
the noisy sum of TX / 16, that of VT / 256

The sum is one that anybody could ask for, and is bounded like any other: each unit's is clamped to
the one cap, whatever its rows were multiplied by. Let that cap be S, and a group's factor w: 50 is
all that VT's sum can change by, S/w, and noise of S's scale b is of b/w in it. With g groups of a
unit, the loss of Laplace noise is Σ S/b over them, as for one cap; dividing a noisy sum by what the
key says costs nothing. A factor of another key, or of none (NULL is no value of a CASE), would be
an error of the answer: no bound rests on which it is.

Factors are whole, and 16 at least where numbers allow: a cap is rounded down by a sixteenth of
itself at most.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.bounding.options import KeyCaps
from dpsql.bounding.statistics.discretization import MAX_MAGNITUDE, Grid
from dpsql.plan.bounded_release.estimator import DividedSum, LinearEstimator
from dpsql.plan.bounded_release.key_factors import FactoredValue, KeyFactors
from dpsql.plan.bounded_release.statistic import CappedSum, Sum
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
    Or,
    When,
    double,
)
from dpsql.plan.expression_text import describe, describe_number, describe_value
from dpsql.plan.numeric_types import arithmetic_type, holds
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import BIGINT, Boolean, Date, Decimal, Double, Integer, SqlType, Varchar
from dpsql.structs import replace

_FINEST: Final = (16, 8, 4, 2, 1)
"""The smallest factors that are tried: of 16 a cap is off by a sixteenth of itself at most."""

_LARGEST: Final = double(Fraction(sys.float_info.max))

_NAMED: Final = 4
"""Of so many keys a note has the caps."""


class FactoredSum(Struct, frozen=True):
    """The sum of `grid`'s integers of `value`, of which a unit has `cap` in a group at most.

    `product` is the multiplied value. Where `rows_are_units`, the grid is within the cap.
    """

    grid: Grid
    value: FactoredValue
    product: Expression
    cap: int
    rows_are_units: bool = False

    def term(self, *, is_centered: bool) -> tuple[Sum | CappedSum, int]:
        """What is summed, and its centre: 0 unless rows are units, and counted, too."""
        center = self.grid.middle if is_centered and self.rows_are_units else 0
        value = replace(self.grid.centered(self.product, center), factored=self.value)
        return (Sum(value) if self.rows_are_units else CappedSum(value, self.cap)), center

    def divided(self, total: int, counted: int | None, center: int, kind: SqlType) -> DividedSum:
        """The estimator by the index of the `total` of multiplied values, divided by their factor.

        Less a `center`, of values that are `counted`, the total lacks as many of it.
        """
        rows = () if counted is None or not center else ((counted, center),)
        multiplied = LinearEstimator(((total, 1), *rows), self.grid.step, kind)
        return DividedSum(multiplied, self.value.factors)

    def note(self) -> str:
        """What an analyst is told of the caps: the highest ones, and the lowest."""
        factors = self.value.factors
        texts = [
            f"{describe_number(self._rounded(factor))} for {describe_value(key)}"
            for key, factor in sorted(factors.factors, key=lambda pair: pair[1])[:_NAMED]
        ]
        lowest = describe_number(self._rounded(factors.largest))
        by, of = describe(self.value.key), describe(self.value.argument)
        return f"unit_sum of {of} by {by} = {', '.join(texts)} …, {lowest} at least: chosen"

    def _rounded(self, factor: int) -> Fraction:
        """The cap of groups of this factor, in four digits: a note isn't a bound."""
        cap = self.cap * self.grid.step / factor
        digit = Fraction(10) ** (math.floor(math.log10(cap)) - 3)
        return round(cap / digit) * digit


def factored_sum(
    argument: Expression, grid: Grid, caps: KeyCaps, keys: Sequence[Expression], rows: int
) -> FactoredSum | None:
    """The sum of `argument` under `caps` of each key; None where one cap is as good, or has to do.

    `grid` is that of the argument as it is, `rows` the most that a unit has in a group.
    """
    if caps.key not in keys or not _is_listable(caps.key.type):
        return None
    largest = rows * max(abs(grid.low), abs(grid.high))
    steps = {key: _steps(cap, grid, largest) for key, cap in caps.caps}
    otherwise = _steps(caps.otherwise, grid, largest)
    highest = max((otherwise, *steps.values()))
    if min((otherwise, *steps.values())) == highest:
        return None
    for finest in _FINEST:
        cap = finest * highest
        factors = KeyFactors(
            keys.index(caps.key),
            tuple((key, -(-cap // own)) for key, own in steps.items()),
            -(-cap // otherwise),
        )
        ends = [end * f for end in (grid.low, grid.high) for f in (finest, factors.largest)]
        if max(map(abs, ends)) < MAX_MAGNITUDE:
            product = _product(argument, grid, caps.key, factors)
            if product is not None:
                value = FactoredValue(argument, caps.key, factors)
                return FactoredSum(Grid(min(ends), max(ends), grid.step), value, product, cap)
    return None


def _steps(cap: Fraction, grid: Grid, largest: int) -> int:
    """`cap` in whole steps, one at least, and no more than what a unit's rows come to."""
    return max(1, min(math.floor(cap / grid.step), largest))


def _is_listable(kind: SqlType) -> bool:
    """Values of `kind` are compared by SQL as Python compares them."""
    return isinstance(kind, Integer | Varchar | Date | Boolean)


def _product(
    argument: Expression, grid: Grid, key: Expression, factors: KeyFactors
) -> Expression | None:
    """`argument` within its own bounds, times the factor of the key; None where no type holds it.

    It is NULL, or NaN, where the argument is.
    """
    low, high, step = grid.low * grid.step, grid.high * grid.step, grid.step
    match argument.type:
        case Integer() as kind if step == 1:
            clamped = _clamped(argument, *(_integer(end, kind) for end in (grid.low, grid.high)))
            number = clamped if kind == BIGINT else Cast(clamped, BIGINT)
            return _times(number, _factor(key, factors, BIGINT), BIGINT)
        case Decimal(precision=digits, scale=scale) as kind if step == Fraction(1, 10**scale):
            whole = Decimal(len(str(factors.largest)), 0)
            product = arithmetic_type(ArithmeticOperator.MULTIPLY, kind, whole)
            farthest = max(-grid.low, grid.high) * factors.largest
            if not isinstance(product, Decimal) or product.scale != scale:
                return None
            if farthest >= 10**product.precision:
                return None
            ends = (
                Literal(e, kind) if abs(e) * 10**scale < 10**digits else None for e in (low, high)
            )
            return _times(_clamped(argument, *ends), _factor(key, factors, whole), product)
        case Double() as kind:
            number = argument if kind == Double() else Cast(argument, Double())
            clamped = _clamped(number, double(low), double(high))
            return _times(clamped, _factor(key, factors, Double()), Double())
        case _:
            return None


def _integer(end: int, kind: Integer) -> Literal | None:
    return Literal(end, kind) if holds(kind, end) else None


def _clamped(number: Expression, low: Literal | None, high: Literal | None) -> Expression:
    """`number` within its bounds; an end of None is beyond what its type holds.

    NaN, which is greater than every number in all engines, stays NaN: it is no value.
    """
    branches = []
    if low is not None:
        branches.append(When(Compare(Comparison.LESS, number, low), low))
    if high is not None:
        beyond: Expression = Compare(Comparison.GREATER, number, high)
        if isinstance(number.type, Double):
            beyond = And((beyond, Compare(Comparison.LESS_EQUAL, number, _LARGEST)))
        branches.append(When(beyond, high))
    return Case(tuple(branches), number, number.type) if branches else number


def _factor(key: Expression, factors: KeyFactors, kind: SqlType) -> Expression:
    """The factor of `key`, as a number of `kind`."""
    alike: dict[int, list[Value | None]] = {}
    for value, factor in factors.factors:
        if factor != factors.otherwise:
            alike.setdefault(factor, []).append(value)
    branches = tuple(
        When(_is_one_of(key, values), _number(factor, kind)) for factor, values in alike.items()
    )
    return Case(branches, _number(factors.otherwise, kind), kind)


def _is_one_of(key: Expression, values: Sequence[Value | None]) -> Expression:
    listed = tuple(Literal(value, key.type) for value in values if value is not None)
    tests: list[Expression] = [InList(key, listed)] if listed else []
    if len(listed) < len(values):
        tests.append(IsNull(key))
    return tests[0] if len(tests) == 1 else Or(tuple(tests))


def _number(factor: int, kind: SqlType) -> Literal:
    return Literal(factor if isinstance(kind, Integer) else Fraction(factor), kind)


def _times(left: Expression, right: Expression, kind: SqlType) -> Expression:
    return Arithmetic(ArithmeticOperator.MULTIPLY, left, right, kind)
