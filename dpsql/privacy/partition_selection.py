"""Thresholds on noisy unit counts: which groups may appear when their keys are not public.

A group is kept iff its noisy count of privacy units is at least τ (Korolova, Kenthapadi, Mishra &
Ntoulas 2009; Wilson et al. 2020, "Differentially Private SQL with Bounded User Contribution").
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.privacy.mechanisms.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.laplace import DiscreteLaplace
from dpsql.privacy.rounding import exp, ln, round_down


def threshold(
    mechanism: DiscreteLaplace | DiscreteGaussian, *, groups: int, per_group: int, delta: Fraction
) -> int:
    """Return the least τ at which groups of changed units alone show with at most `delta`.

    The changed units are alone in at most `groups` groups, counted at most `per_group` in each; any
    of these shows with probability 1 - (1 - q)^groups, where q = P(per_group + noise >= τ), the
    atom at τ included. Never less than per_group + 1, however large delta is. Tails are rounded up;
    for Gaussian noise of a standard deviation above 64 that may make τ one more.
    """
    # For databases k units apart, `groups` and `per_group` are k times those of one unit; there is
    # no other conversion. What remains, given that these groups don't show, is the mechanism's
    # own loss: the release is δ-approximate, and its δ adds up beside rho or ε.
    if groups < 1 or per_group < 1:
        raise ValueError("a changed unit is counted in some group")
    if not 0 < delta < 1:
        raise ValueError("a threshold needs a delta between 0 and 1")
    return per_group + mechanism.tail_point(each_may_show(groups, delta))


def each_may_show(groups: int, delta: Fraction) -> Fraction:
    """Return the largest q with 1 - (1 - q)^groups <= delta, rounded down in the 30th digit."""
    if groups == 1:
        return delta
    digits = 40 + len(str(int(groups / delta)))  # 1 - q begins with about as many nines
    none_shows = exp(ln(1 - delta, digits).high / groups, digits).high
    return round_down(1 - none_shows)
