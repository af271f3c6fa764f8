"""Noise of several statistics, of one group or of all listed groups, that is drawn together.

Where every key is listed, and no noise decides which groups are shown, the integers of a release
are a vector of known length. Neighbours move each of them by at most `per_group`:

- all of them at once, at worst: one draw for all groups;
- those of as many groups as the units that differ are in: a draw for each group, at its part of ε.
  A unit is in at most `groups` groups, and moves the integers of each by its part of `per_group`;
  where units are replaced, the two of a pair are in twice as many, and move a group that they share
  by no more than its integers can move at all.

Limits of a unit's rows in all groups together, and statistics that can't all be extreme at once,
are of no use to it: where that matters, noise for each statistic by itself has less error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.errors import InternalError
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import LinearEstimator, of_drawn
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.exact_answers import NoNoise


def joint_choices(
    bounded: BoundedRelease, sensitivity: Sensitivity, epsilon: Fraction
) -> Iterator[tuple[KNormNoise, ...]]:
    """The ways to draw the noise of all statistics together that cost `epsilon` in all."""
    if bounded.partition_count_index is not None or _reads_other_groups(bounded):
        return
    moves = sensitivity.per_group
    cells = math.prod(len(domain.cells) for domain in bounded.contributions.domains)
    if len(moves) * cells == 1 or min(moves, default=0) < 1:
        return  # Of one integer it would be discrete Laplace noise.
    laws = [KNorm.calibrated(epsilon, moves, cells=cells, units=1)]
    groups = _changed_groups(sensitivity)
    if groups is not None and len(moves) > 1 and groups < cells:
        units = 1 if sensitivity.is_replacement else sensitivity.units
        laws.append(KNorm.calibrated(epsilon / groups, moves, cells=1, units=units))
    for law in laws:
        if law is not None:
            yield tuple(KNormNoise(law, index) for index in range(len(moves)))


def _changed_groups(sensitivity: Sensitivity) -> int | None:
    """In how many groups the integers of neighbours differ; None where that isn't worked out.

    Of u units that are added each is in `groups` groups, and moves them by 1/u of `per_group`.
    """
    if not sensitivity.is_replacement:
        return sensitivity.groups
    return 2 * sensitivity.groups if sensitivity.units == 2 else None


def _reads_other_groups(bounded: BoundedRelease) -> bool:
    formulas = (of_drawn(output.estimator) for output in bounded.outputs)
    return any(isinstance(f, LinearEstimator) and f.cross_group is not None for f in formulas)


def noisy_integers(
    mechanisms: Sequence[Noise | NoNoise], totals: Sequence[Integers], randomness: Randomness
) -> list[Integers]:
    """The columns `totals` with the noise of `mechanisms`, one column for each.

    Columns may hold the groups of several answers, one answer after the other.
    """
    joint = [mechanism for mechanism in mechanisms if isinstance(mechanism, KNormNoise)]
    if joint:
        law = joint[0].law
        if list(mechanisms) != [KNormNoise(law, index) for index in range(len(law.moves))]:
            raise InternalError("noise that is drawn together has come apart")
        return law.release(totals, randomness)
    return [
        mechanism.release_vector(column, randomness)
        for mechanism, column in zip(mechanisms, totals, strict=True)
        if not isinstance(mechanism, KNormNoise)
    ]
