"""Aggregates become integer statistics, shared where they can be, and formulas over them.

sum(l_quantity), avg(l_quantity), count(*)   with l_quantity in [1, 50], never NULL

Ones in [0, 1]                               count(*) = s0
Amount(l_quantity, centre=25) in [-24, 25]   sum = s1 + 25 s0, avg = 25 + s1 / s0
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dpsql.errors import Refused, Span
from dpsql.plan.bounded import (
    Amount,
    Formula,
    FormulaOutput,
    Linear,
    Mean,
    Ones,
    Presence,
    Present,
    Statistic,
    Term,
)
from dpsql.plan.describe import describe
from dpsql.plan.expression import Expression
from dpsql.plan.operator import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.tree import columns
from dpsql.schema.type import Decimal, Double, Integer
from dpsql.stability.domain import Environment, domain

MAX_MAGNITUDE = 2**52
"""Row terms stay below this, so that sums of 2^50 rows scaled by 2^20 fit 128 bits."""

_DOUBLE_STEPS = 2**30
"""A DOUBLE's bound is worth about so many steps: rounding to them is far below any noise."""


@dataclass(frozen=True, slots=True)
class Range:
    """Integers from `low` to `high`, each worth `step`."""

    low: int
    high: int
    step: Fraction

    @property
    def middle(self) -> int:
        """The centre that leaves the smallest magnitude."""
        return (self.low + self.high) // 2


@dataclass(slots=True)
class Statistics:
    """Collects the statistics of one release; equal ones are one, and share one draw of noise."""

    domains: Environment
    found: list[Statistic] = field(default_factory=list)

    def formulas(self, outputs: tuple[AggregateOutput, ...]) -> tuple[FormulaOutput, ...]:
        """The formula of each aggregate."""
        # Counts first: a sum that finds a count of its rows is centred by it, at less noise.
        for output in outputs:
            if output.call.function in (AggregateFunction.COUNT, AggregateFunction.AVG):
                self._formula(output.call)
        return tuple(FormulaOutput(o.column, self._formula(o.call)) for o in outputs)

    def presence(self) -> int:
        """The place of the number of units in each group."""
        return self._place(Presence(), None, Range(0, 1, Fraction(1)))

    def _formula(self, call: AggregateCall) -> Formula:
        match call.function:
            case AggregateFunction.COUNT if call.distinct:
                return Linear(((self.presence(), 1),), Fraction(1), call.type)
            case AggregateFunction.COUNT:
                return Linear(((self._count(call), 1),), Fraction(1), call.type)
            case AggregateFunction.SUM:
                return self._sum(call)
            case AggregateFunction.AVG:
                return self._mean(call)
            case AggregateFunction.MIN | AggregateFunction.MAX:
                raise Refused(
                    f"{call.function.value}() of private rows is one unit's own value",
                    at=call.at,
                    hint="ask for a count, a sum or an average",
                    note="refused_functions",
                )
            case missing:
                assert_never(missing)

    def _count(self, call: AggregateCall) -> int:
        return self._place(self._counted(call), call.filter, Range(0, 1, Fraction(1)))

    def _counted(self, call: AggregateCall) -> Term:
        """A column that is never NULL is counted as rows are, and shares their noise."""
        if call.argument is None or not domain(call.argument, self.domains).nullable:
            return Ones()
        return Present(call.argument)

    def _sum(self, call: AggregateCall) -> Formula:
        argument = _argument(call)
        found = self._range(argument, call.at)
        counted = self._find(self._counted(call), call.filter)
        centre = 0 if counted is None else found.middle
        total = self._amount(argument, call.filter, found, centre)
        terms = ((total, 1),) if counted is None else ((total, 1), (counted, centre))
        return Linear(terms, found.step, call.type)

    def _mean(self, call: AggregateCall) -> Formula:
        argument = _argument(call)
        found = self._range(argument, call.at)
        count = self._count(call)
        total = self._amount(argument, call.filter, found, found.middle)
        return Mean(
            total, count, found.middle, found.step, found.low * found.step, found.high * found.step
        )

    def _amount(
        self, argument: Expression, only: Expression | None, found: Range, centre: int
    ) -> int:
        shifted = Range(found.low - centre, found.high - centre, found.step)
        return self._place(Amount(argument, centre), only, shifted)

    def _range(self, argument: Expression, at: Span | None) -> Range:
        bounds = domain(argument, self.domains).bounds
        ends = None if bounds is None else bounds.ends
        if ends is None:
            raise unbounded(argument, self.domains, at)
        low, high = ends
        step = _step(argument, max(abs(low), abs(high)), at)
        return Range(math.floor(low / step), math.ceil(high / step), step)

    def _find(self, term: Term, only: Expression | None) -> int | None:
        for place, statistic in enumerate(self.found):
            if statistic.term == term and statistic.filter == only:
                return place
        return None

    def _place(self, term: Term, only: Expression | None, found: Range) -> int:
        place = self._find(term, only)
        if place is None:
            place = len(self.found)
            # A constant 0 changes nothing, but noise needs something to hide: one step.
            high = found.high if (found.low, found.high) != (0, 0) else 1
            self.found.append(Statistic(term, only, found.low, high, found.step))
        return place


def unbounded(argument: Expression, domains: Environment, at: Span | None) -> Refused:
    """The refusal of a sum over what has no bounds."""
    loose = sorted(
        column.name
        for column in columns(argument)
        if (bounds := domain(column, domains).bounds) is None or bounds.ends is None
    )
    text = describe(argument)
    where = f"column {loose[0]} has none" if loose else "none follow from its columns"
    return Refused(
        f"sum of {text} needs bounds, and {where}",
        at=at,
        hint=f"declare bounds in the schema, or sum CASE WHEN {text} BETWEEN 0 AND 1000 THEN "
        f"{text} END with the limits that you mean",
        note="aggregate_sum",
    )


def _argument(call: AggregateCall) -> Expression:
    if call.argument is None:
        raise ValueError(f"{call.function.value} takes an argument")
    return call.argument


def _step(argument: Expression, magnitude: Fraction, at: Span | None) -> Fraction:
    """What one integer is worth: exact for integers and decimals that fit, a power of two else."""
    match argument.type:
        case Integer():
            step, base = Fraction(1), 10
        case Decimal(scale=scale):
            step, base = Fraction(1, 10**scale), 10
        case Double():
            # The power of two at or above magnitude / steps: multiplying by it is exact.
            step, base = _power_of_two(max(magnitude, Fraction(1, 2**60)) / _DOUBLE_STEPS), 2
        case other:
            raise Refused(f"values of type {other} can't be summed", at=at, note="aggregate_sum")
    while magnitude / step >= MAX_MAGNITUDE:
        step *= base
    return step


def _power_of_two(number: Fraction) -> Fraction:
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    power = Fraction(2) ** exponent
    while power < number:
        power *= 2
    return power
