"""How far noise moves a query's values, by what a unit may contribute to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.distance import NeighborDistance

_MEAN_OF_NORMAL: Final = math.sqrt(2 / math.pi)
"""The mean absolute value of a standard normal variable."""


@dataclass(frozen=True, slots=True)
class QueryNoise:
    """What noise costs a query: its `loss`, shared by so many `statistics`, of so many units."""

    loss: PrivacyLoss
    distance: NeighborDistance
    statistics: int

    def mean_absolute(self, groups: int, cap: Fraction) -> float:
        """About how far noise moves a value of which a unit changes `groups` by up to `cap`."""
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
                return min(laplace, _MEAN_OF_NORMAL * deviation)
            case missing:
                assert_never(missing)
