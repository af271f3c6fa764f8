"""Sensitivity sampling: how much sampled pairs of records differ. A diagnostic, without privacy.

(Rubinstein & Aldà 2017, "Pain-Free Random Differential Privacy with Sensitivity Sampling".) Of m
pairs drawn from the law of the data, the k-th smallest change covers all but γ of further pairs,
with confidence. A loss calibrated to it holds for random databases at best, not for the worst:
noise in dpsql is never derived from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from statistics import NormalDist

from msgspec import Struct

from dpsql.errors import BadParameter

WARNING = (
    "not differentially private; random DP at best; never used for noise: for public or synthetic "
    "data only"
)


MIN_PAIRS = 10


class Plan(Struct, frozen=True):
    """The number of pairs to draw, the rank of the change to take, and its confidence 1 - ρ.

    The change covers all but `gamma` of further pairs, which includes that confidence.
    """

    pairs: int
    rank: int
    rho: float
    gamma: float


class Sampled(Struct, frozen=True):
    """The sampled change at the plan's rank, and the mean of all sampled changes."""

    plan: Plan
    sensitivity: float
    mean: float


class Mixture(Struct, frozen=True):
    """An even mixture of two normal distributions: heights of men and women, say."""

    one: NormalDist
    other: NormalDist

    def draw(self, random: Random) -> float:
        """Draw one value."""
        law = self.one if random.random() < 0.5 else self.other
        return random.gauss(law.mean, law.stdev)

    @property
    def stdev(self) -> float:
        """The standard deviation of a value."""
        between = (self.one.mean - self.other.mean) ** 2 / 4
        return math.sqrt((self.one.variance + self.other.variance) / 2 + between)

    @property
    def expected_change(self) -> float:
        """The mean of |x - y| of two values."""
        return sum(_expected(law) for law in self._differences()) / 4

    def covered(self, level: float) -> float:
        """The probability of |x - y| <= level."""
        return sum(law.cdf(level) - law.cdf(-level) for law in self._differences()) / 4

    def _differences(self) -> tuple[NormalDist, ...]:
        laws = (self.one, self.other)
        return tuple(a - b for a in laws for b in laws)


def plan(gamma: float) -> Plan:
    """The fewest pairs for which the k-th change covers all but `gamma` (their Theorem 7).

    ρ = exp(W₋₁(-γ/(2√e)) + ½), m = ⌈ln(1/ρ)/(2(γ - ρ)²)⌉, k = ⌈m(1 - γ + ρ + √(ln(1/ρ)/(2m)))⌉.
    """
    if not 0 < gamma < 1:
        raise BadParameter("gamma is a probability", hint="write gamma = 0.05")
    rho = math.exp(_lambert(-gamma / (2 * math.sqrt(math.e))) + 0.5)
    logarithm = math.log(1 / rho)
    pairs = math.ceil(logarithm / (2 * (gamma - rho) ** 2))
    rank = math.ceil(pairs * (1 - gamma + rho + math.sqrt(logarithm / (2 * pairs))))
    return Plan(pairs, min(rank, pairs), rho, gamma)


def plan_of_pairs(pairs: int) -> Plan:
    """The smallest γ that so many pairs are enough for, with the largest change of all.

    ρ = exp(W₋₁(-1/(4m)) / 2), γ = ρ + √(ln(1/ρ)/(2m)), k = m.
    """
    if pairs < MIN_PAIRS:
        raise BadParameter("too few pairs cover nothing", hint=f"draw {MIN_PAIRS} pairs or more")
    rho = math.exp(_lambert(-1 / (4 * pairs)) / 2)
    return Plan(pairs, pairs, rho, rho + math.sqrt(math.log(1 / rho) / (2 * pairs)))


def order_statistic(plan: Plan, changes: Sequence[float]) -> Sampled:
    """What `changes`, as many as the plan has pairs, say."""
    ascending = sorted(changes)
    return Sampled(plan, ascending[plan.rank - 1], sum(ascending) / plan.pairs)


def sample(size: Plan, change: Callable[[Random], float], seed: int) -> Sampled:
    """Draw as many changes as `size` says; `change` draws one."""
    random = Random(seed)
    return order_statistic(size, [change(random) for _ in range(size.pairs)])


def _expected(law: NormalDist) -> float:
    """E|x| of a normal x."""
    mean, stdev = law.mean, law.stdev
    folded = stdev * math.sqrt(2 / math.pi) * math.exp(-(mean**2) / (2 * law.variance))
    return folded + mean * math.erf(mean / (stdev * math.sqrt(2)))


def _lambert(x: float) -> float:
    """The lower branch W₋₁ of w·e^w = x, for -1/e < x < 0: by bisection, where it falls with w."""
    low, high = -745.0, -1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle * math.exp(middle) > x:
            low = middle
        else:
            high = middle
    return (low + high) / 2
