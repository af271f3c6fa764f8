"""The best rule there is for which groups may appear: dpsql's own keep no group more often.

(Desfontaines, Voss, Gipson & Mandayam 2020, "Differentially Private Partition Selection", Theorem
1.) A group of n units is kept with probability π(n); no other rule with the same loss keeps any
group more often. Its unit count is not released.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpsql.privacy.directed_rounding import exp

BITS = 128
ONE = 1 << BITS
LONGEST = 2**18


@dataclass(frozen=True, slots=True)
class OptimalSelection:
    """Keeps each group with (ε, δ); for neighbours that differ by one unit in each group.

    A unit in l0 groups loses l0·ε and l0·δ: both are what one group is given.
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or not Fraction(1, ONE) <= self.delta < 1:
            raise ValueError("selection takes a positive ε, and a δ from 2^-128 to 1")

    @classmethod
    def of_groups(cls, epsilon: Fraction, delta: Fraction, groups: int) -> OptimalSelection:
        """Return the one that costs (ε, δ) in all when one unit is in `groups` groups."""
        return cls(epsilon / groups, delta / groups)

    @property
    def certain_from(self) -> int:
        """The least count of units with which a group is always kept."""
        return len(_probabilities(self.epsilon, self.delta))

    def probability(self, units: int) -> Fraction:
        """Return π(units)."""
        if units >= self.certain_from:
            return Fraction(1)
        return Fraction(_probabilities(self.epsilon, self.delta)[max(units, 0)], ONE)


@lru_cache(maxsize=16)
def _probabilities(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """Return 2^128·π(n) for n = 0, 1, … as long as it is below 2^128."""
    table = []
    for probability in _below_one(epsilon, delta):
        table.append(probability)
        if len(table) > LONGEST:
            raise ValueError("so small a loss keeps no group of less than 262,144 units")
    return tuple(table)


def _below_one(epsilon: Fraction, delta: Fraction) -> Iterator[int]:
    # π(n) is the largest number with π(n) <= e^ε·π(n - 1) + δ and 1 - π(n - 1) <= e^ε·(1 - π(n)) +
    # δ. Rounded down from the π(n - 1) that is used, it still keeps both, and it still grows, so it
    # keeps the other two of (ε, δ)-DP, π(n - 1) <= e^ε·π(n) + δ and its mirror image.
    growth = int(exp(epsilon).low * ONE)
    decay = -int(-exp(-epsilon).high * ONE // 1)
    spare = int(delta * ONE)
    probability = 0
    while probability < ONE:
        yield probability
        more = (growth * probability >> BITS) + spare
        left = max(ONE - probability - spare, 0)
        less = ONE - -(-decay * left >> BITS)
        probability = max(min(more, less), probability)
