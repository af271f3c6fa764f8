"""How the loss of chosen keys with counts is shared, where that has less error than all counts.

SELECT doctor_id, count(*) FROM visits GROUP BY doctor_id ORDER BY count(*) DESC LIMIT 3

The noise of all counts is for as many groups as a unit is in. That of a choice doesn't know of
them, and that of three counts is for three. What shows is how far a count is off, and how many rows
a key may have less than those that aren't shown: the larger of the two, each as a part of what it
is where all counts are released and sorted, is made as small as may be.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from dpsql.errors import InternalError
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.release.calibration import Measurement
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.selection_mechanism import CountedTopMechanism

MAX_SQUARE: Final = Fraction(3, 4) ** 2
"""Of either error, squared, as a part of that of all counts: counts that are released serve other
queries, too."""

_SHARES: Final = tuple(Fraction(twelfths, 12) for twelfths in range(1, 12))


def sorted_error_squared(noisy: Measurement, cells: int) -> Fraction:
    """The square of how many rows one of the sorted keys may have less than another, as noise goes.

    One may be off by the error of two counts, the largest of so many. Correlated Gaussian noise has
    a part that all counts share, which moves none past another; other noise that is drawn together
    isn't a sum with such a part, and each count's is taken whole. A part of the variance isn't one
    of the width, so that squares are told.
    """
    noise = noisy.noise[0]
    shared = noise.shared_part if isinstance(noise, CorrelatedNoise) else Fraction(0)
    width = 2 * noise.half_width(1 - (1 - CONFIDENCE) / cells)
    return (1 - shared) * Fraction(width) ** 2


def best_share(
    noisy: Measurement, cells: int, chosen: Callable[[Fraction], Measurement]
) -> Fraction | None:
    """The share of the loss for the choice among `cells` keys; None if `noisy` is no worse.

    `noisy` has the noise of all counts, and `chosen` what is measured at a share.
    """
    half = _ratios(noisy, cells, chosen(Fraction(1, 2)))
    if half is None:
        return None
    # Of zcdp and gdp squared errors fall as the loss grows, else as its square does.
    power = 1 if noisy.loss.accounting in {Accounting.ZCDP, Accounting.GDP} else 2

    def larger(share: Fraction) -> Fraction:
        rank, value = half
        return max(rank / (2 * share) ** power, value / (2 * (1 - share)) ** power)

    share = min(_SHARES, key=larger)
    ratios = _ratios(noisy, cells, chosen(share))
    return share if ratios is not None and max(ratios) <= MAX_SQUARE else None


def _ratios(
    noisy: Measurement, cells: int, chosen: Measurement
) -> tuple[Fraction, Fraction] | None:
    """The squared errors of ranks and of counts, as parts of those of all counts, if these err."""
    (chooser,) = chosen.choosers
    if not isinstance(chooser, CountedTopMechanism):
        raise InternalError("chosen keys are counted by another mechanism")
    by_rank = sorted_error_squared(noisy, cells)
    by_value = Fraction(noisy.noise[0].half_width(CONFIDENCE)) ** 2
    if not by_rank or not by_value:
        return None
    value = Fraction(chooser.noise.half_width(CONFIDENCE)) ** 2
    return chooser.rank_error(cells, CONFIDENCE) ** 2 / by_rank, value / by_value
