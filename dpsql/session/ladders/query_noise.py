"""How far noise moves a query's values, by what a unit may contribute to them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, assert_never

from msgspec import Struct

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.distance import NeighborDistance

_MEAN_OF_NORMAL: Final = math.sqrt(2 / math.pi)
"""The mean absolute value of a standard normal variable."""


class QueryNoise(Struct, frozen=True):
    """What noise costs a query: its `loss`, shared by so many `statistics`, of so many units.

    `cells` is how many groups are listed, None if that isn't known.
    """

    loss: PrivacyLoss
    distance: NeighborDistance
    statistics: int
    cells: int | None = None

    def of_scaled(self, groups: int, cap: Fraction) -> float:
        """The same where a unit changes as much in a norm, in all groups."""
        return self._mean(groups, cap, is_scaled=True)

    def mean_absolute(self, groups: int, cap: Fraction) -> float:
        """About how far noise moves a value of which a unit changes `groups` by up to `cap`."""
        return self._mean(self._joint(groups), cap, is_scaled=False)

    def _joint(self, groups: int) -> float:
        """The groups for which noise by itself is as much as noise that all groups have together.

        One statistic of k listed groups has no more than that of 3/8·k groups, or under pure
        accounting of √((k + 1)(k + 2)/6).
        """
        if self.cells is None or self.statistics > 1 or self.distance.steps > 1:
            return groups
        match self.loss.accounting:
            case Accounting.ZCDP | Accounting.GDP:
                return min(groups, max(1.0, 3 * self.cells / 8))
            case Accounting.PURE | Accounting.APPROX:
                return min(groups, math.sqrt((self.cells + 1) * (self.cells + 2) / 6))
            case missing:
                assert_never(missing)

    def _mean(self, groups: float, cap: Fraction, *, is_scaled: bool) -> float:
        amount = float(self.loss.amount) / self.statistics
        change = self.distance.steps * float(cap)
        laplace = groups * change / amount
        match self.loss.accounting:
            case Accounting.PURE:
                return laplace
            case Accounting.ZCDP:
                return _MEAN_OF_NORMAL * math.sqrt(groups / (2 * amount)) * change
            case Accounting.GDP:
                return _MEAN_OF_NORMAL * math.sqrt(groups / amount) * change
            case Accounting.APPROX:
                delta = float(self.loss.delta) / self.statistics
                if not delta:
                    return laplace
                deviation = math.sqrt(2 * groups * math.log(1.25 / delta)) * change / amount
                gaussian = _MEAN_OF_NORMAL * deviation
                # Of a unit that is scaled to an L2 norm Laplace noise knows too little.
                return gaussian if is_scaled else min(laplace, gaussian)
            case missing:
                assert_never(missing)
