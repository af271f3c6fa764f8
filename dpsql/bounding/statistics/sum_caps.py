"""Caps on what a unit's values sum to in a group: which holds of an argument, and where it binds.

sum(x)   with x in [0, 1000], 60 rows of a unit in a group, and a cap of 5000

CappedSum(x, cap=5000)           a unit moves it by 5000, not by 60,000
Sum(x) in [0, 1000]              where each row is a unit: a row moves it by no more anyway
Sum(x) in [0, 300]               there with a cap of 300: it is the row's value that is clamped

A cap that isn't below what a unit's rows come to changes nothing, so that whoever sets one too high
is given the same stored answer. One that is takes the place of the limit on rows in a group: a sum
of 500 rows isn't scaled down to 60 of them, since no more than the cap is left of it anyway.

Rows stay within their own bounds, also where these are wider than the cap: a unit's 150 and -100
sum to 50, which a cap of 100 leaves as it is, and rows within [-100, 100] would sum to 0. An
argument without bounds has those of the cap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct, field

from dpsql.bounding.options import ContributionLimits, KeyCaps
from dpsql.bounding.statistics.conditional_aggregate import with_filter
from dpsql.bounding.statistics.discretization import Grid
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe, describe_number


class SumCaps(Struct, frozen=True):
    """The cap `of` some arguments, and of `every` argument; None where none is set.

    Caps `by_key` hold in place of an argument's own, where its sum can have them.
    """

    every: Fraction | None
    of: Mapping[Expression, Fraction]
    by_key: Mapping[Expression, KeyCaps] = field(default_factory=dict)

    def cap(self, argument: Expression) -> Fraction | None:
        """The least cap of `argument`, in its own unit."""
        caps = [cap for cap in (self.every, self.of.get(argument)) if cap is not None]
        return min(caps, default=None)

    def steps(self, call: AggregateCall, grid: Grid, rows: int) -> int | None:
        """The cap of `call` in steps of `grid`, one at least; None where it doesn't bind.

        A unit has at most `rows` rows in a group. Of distinct values a unit's own don't sum up.
        """
        cap = self._cap_of(call)
        if cap is None:
            return None
        steps = max(1, math.floor(cap / grid.step))
        return steps if steps < rows * max(abs(grid.low), abs(grid.high)) else None

    def _cap_of(self, call: AggregateCall) -> Fraction | None:
        """The cap of a sum; of a mean, whose sum it divides, the one that was chosen for that.

        What an analyst sets for all sums leaves means as they are: they have no error to lessen
        that is told, where a choice is told with what it cuts off.
        """
        match call.function:
            case AggregateFunction.SUM if not call.distinct:
                return self.cap(call.arguments[0])
            case AggregateFunction.AVG if not call.distinct:
                return self.of.get(call.arguments[0])
            case _:
                return None

    def note(self, argument: Expression, steps: int, step: Fraction) -> str:
        """What an analyst is told of a cap that binds."""
        own = self.of.get(argument)
        whose = "set for this session" if own is None or own != self.cap(argument) else "chosen"
        return f"unit_sum = {describe_number(steps * step)} of {describe(argument)}: {whose}"


NO_CAPS: Final = SumCaps(None, {})


def capped_rows(grid: Grid, cap: int) -> Grid:
    """`grid` within [-cap, cap]; of two integers at least, both within."""
    low, high = (max(-cap, min(cap, end)) for end in (grid.low, grid.high))
    if low == high:
        low, high = (low - 1, high) if low > 0 else (low, high + 1)
    return Grid(low, high, grid.step)


def sum_caps(limits: ContributionLimits, calls: Iterable[AggregateCall]) -> SumCaps:
    """The caps of `limits` on the sums among `calls`, also of those whose condition is a filter."""
    chosen: dict[Expression, Fraction] = {}
    by_key = {each.argument: each.by_key for each in limits.sums if each.by_key is not None}
    for each in limits.sums:
        chosen[each.argument] = min(each.cap, chosen.get(each.argument, each.cap))
    for call in calls:
        for own, filtered in zip(call.arguments, with_filter(call).arguments, strict=False):
            if own in chosen:
                chosen[filtered] = min(chosen[own], chosen.get(filtered, chosen[own]))
            if own in by_key:
                by_key.setdefault(filtered, by_key[own])
    return SumCaps(limits.unit_sum, chosen, by_key)
