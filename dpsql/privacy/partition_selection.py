"""Partition selection: which groups may appear when their keys are not public.

A group appears iff its noisy count of privacy units is at least a threshold τ (Korolova,
Kenthapadi, Mishra & Ntoulas 2009; Wilson et al. 2020, "Differentially Private SQL with Bounded User
Contribution").
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from heapq import heappop, heappush
from typing import Final

from dpsql.privacy.accounting.zcdp_conversion import delta_of_rho
from dpsql.privacy.directed_rounding import exp_above, ln, ln_above, power_below, round_down
from dpsql.privacy.mechanisms.noise.noise import Noise

_MAX_SPLITS: Final = 1024
"""Ranges of numbers of groups that are split; where δ hardly depends on the number, of a billion
groups all would be. Then the bound of the range that has the largest is a little above the δ."""


def threshold(mechanism: Noise, *, groups: int, per_group: int, delta: Fraction) -> int:
    """Return the least τ at which groups of changed units alone appear with `delta` at most.

    The changed units are alone in at most `groups` groups, counted at most `per_group` in each; any
    of these appears with probability 1 - (1 - q)^groups, where q = P(per_group + noise >= τ), the
    atom at τ included. Never less than per_group + 1, however large delta is. Tails are rounded up;
    for Gaussian noise of a standard deviation above 64 that may make τ one more. Raises ValueError
    unless `groups` and `per_group` are at least 1 and 0 < delta < 1.
    """
    # For databases k units apart, `groups` and `per_group` are k times those of one unit; there is
    # no other conversion. What remains, given that these groups don't show, is the mechanism's
    # own loss: the release is δ-approximate, and its δ adds up beside rho or ε.
    if groups < 1 or per_group < 1:
        raise ValueError("a changed unit is counted in some group")
    if not 0 < delta < 1:
        raise ValueError("a threshold needs a delta between 0 and 1")
    return per_group + mechanism.tail_point(per_group_delta(groups, delta))


# Statements that differ in a constant ask for the same ones.
@lru_cache(maxsize=256)
def selection_delta(
    shows: Fraction, *, groups: int, rho: Fraction, rho_per_group: Fraction, epsilon: Fraction
) -> Fraction:
    """Return a δ at which zCDP noise and a threshold on its unit counts are together (ε, δ)-DP.

    `shows` is the probability, rounded up, that a group of changed units alone appears: tail(τ -
    per_group). The changed units are in at most `groups` groups; the statistics released of one
    group lose at most `rho_per_group`, and those of all groups `rho`. The guarantee is for one
    release, at any one ε: such δ don't add up under zCDP. (After Wilkins, Kifer, Zhang & Karrer
    2024, whose noise is continuous.)
    """
    # Of the groups of changed units let r be theirs alone, and j known: others are there too. All r
    # are hidden with probability h = (1 - shows)^r, and then, as always without the changed units,
    # just the known ones are released, of which thresholding tells no more than their noisy
    # counts. Let P and Q be their laws with and without, and δ(j, ε) their conversion. With any S,
    #     P'(S) <= 1 - h + h·P(S) <= 1 - h + h·(e^(ε - ln h)·Q(S) + δ(j, ε - ln h)),
    # where h·e^(ε - ln h) = e^ε, and without the units
    #     Q(S) <= e^(ε + ln h)·P(S) + δ(j, ε + ln h) <= e^ε·P'(S) + δ(j, ε + ln h).
    # δ falls with ε, so the second δ is at least the one in the first: that one is used in both.
    # Numbers j are passed over in ranges, of which none has more than the largest δ so far; those
    # that may have the most come first, or each number would have a little more than the last.
    bound_of = partial(_bound_of_known, shows, groups, rho, rho_per_group, epsilon)
    worst = max(bound_of(0, 0), bound_of(groups, groups))
    ranges = [(-bound_of(1, groups - 1), 1, groups - 1)] if groups > 1 else []
    for _ in range(_MAX_SPLITS):
        if not ranges or -ranges[0][0] <= worst:
            return worst
        _, low, high = ranges[0]
        if low == high:
            break
        heappop(ranges)
        middle = (low + high) // 2
        for part in ((low, middle), (middle + 1, high)):
            heappush(ranges, (-bound_of(*part), *part))
    return max(worst, -ranges[0][0])


def _bound_of_known(
    shows: Fraction,
    groups: int,
    rho: Fraction,
    rho_per_group: Fraction,
    epsilon: Fraction,
    low: int,
    high: int,
) -> Fraction:
    """A bound of 1 - h + h·δ for any number of known groups from `low` to `high`; if one, it.

    With more of them, fewer are to stay hidden and more is lost: none has less than the h of `low`,
    nor more than the δ of `high` at what that h leaves of ε. As δ is at most 1, 1 - h·(1 - δ) falls
    with h.
    """
    hidden = power_below(1 - shows, groups - low)
    less = epsilon + ln(hidden).low if hidden else Fraction(-1)
    if less < 0:
        return Fraction(1)
    of_known = delta_of_rho(min(high * rho_per_group, rho), less)
    return 1 - hidden + hidden * of_known


@lru_cache(maxsize=256)
def per_group_delta(groups: int, delta: Fraction) -> Fraction:
    """Return the largest q with 1 - (1 - q)^groups <= delta, rounded down in the 30th digit."""
    if groups == 1:
        return delta
    digits = 40 + len(str(int(groups / delta)))  # 1 - q begins with about as many nines
    none_shows = exp_above(ln_above(1 - delta, digits) / groups, digits)
    return round_down(1 - none_shows)
