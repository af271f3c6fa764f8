"""What limits leave out of a value, as ladders let expect: its bias, which no noise hides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct

from dpsql.privacy.domain import Value
from dpsql.privacy.ladder.cap_choice import interval
from dpsql.privacy.ladder.joint_choice import Measured, lost_pairs
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.over_groups import OverGroups


class ExpectedBias(Struct, frozen=True):
    """What a value lacks, with the ends of a 90 % interval; `total` is expected without limits.

    Of values of both signs these are magnitudes: what is left out may cancel out.
    """

    expected: float
    low: float
    high: float
    total: float

    def times(self, factor: int) -> ExpectedBias:
        """What the sum of so many values lacks: as much each, for they have one ladder."""
        return ExpectedBias(
            self.expected * factor, self.low * factor, self.high * factor, self.total * factor
        )


KeyBiases = tuple[tuple[Value | None, ExpectedBias], ...]
"""What the value of each group lacks, by its key."""


def expected_bias(
    groups: Ladder,
    measured: Measured,
    limit: int,
    cap: Fraction,
    way: OverGroups = OverGroups.SAMPLE,
    order: int = 2,
) -> ExpectedBias:
    """Return what is left out where units count in `limit` groups, with up to `cap` in each.

    `groups` is the ladder of the number of groups that each unit is in; those in too many are drawn
    or scaled to a norm of this `order`. Declared limits make no difference: what the caller applies
    is all in `limit` and `cap`.
    """
    lost = lost_pairs(groups, measured, [limit], [cap], way, order)[:, 0, 0]
    draws = measured.draws()
    bias = np.maximum(draws.total - (1 - lost) * (draws.total - draws.at(float(cap))), 0.0)
    low, high = interval(bias)
    return ExpectedBias(float(bias.mean()), low, high, float(draws.total.mean()))
