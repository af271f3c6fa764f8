"""Noise of several statistics, of one group or of all listed groups, that is drawn together.

Where every key is listed, and no noise decides which groups are shown, the integers of a release
are a vector of known length. Neighbours move each of them by at most `per_group`:

- all of them at once, at worst: one draw for all groups;
- those of as many groups as the units that differ are in: a draw for each group, at its part of ε.
  A unit is in at most `groups` groups, and moves the integers of each by its part of `per_group`;
  where units are replaced, the two of a pair are in twice as many, and move a group that they share
  by no more than its integers can move at all.

- those of groups among which a unit's rows are limited, R of them in all and r in each: a draw for
  each group, at r/R of ε, and a little less (`_limited_by_rows`).

Statistics that can't all be extreme at once are of no use to it: where that matters, noise for each
statistic by itself has less error.

Units that are scaled to a norm have noise for each statistic by itself. Their sums are numbers of
parts, of which a unit moves each by up to `per_group` times as many: laws that are calibrated for
`per_group` itself would hide 1/1024 of a row. And in all groups nothing but the box would bound
them, which the norm that they were scaled to doesn't make smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.analysis.unit_contribution import partial_interval, rows_per_group
from dpsql.errors import InternalError
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, LimitGroups, integer_parts
from dpsql.plan.bounded_release.estimator import (
    DividedSum,
    EstimatedColumn,
    LinearEstimator,
    of_drawn,
)
from dpsql.plan.bounded_release.statistic import (
    NonNullCount,
    Product,
    RowCount,
    Square,
    Sum,
    UnitCount,
)
from dpsql.privacy.allocation.correlated_allocation import split_correlated
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise
from dpsql.privacy.mechanisms.noise.noise import JointNoise, Noise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.one_direction import OneDirection, OneDirectionNoise
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.exact_answers import NoNoise

_PARTS: Final = (64, 32, 16, 8, 4)
"""How many times the levels that rounding adds a move has: as many as can be listed."""


def joint_choices(
    bounded: BoundedRelease, sensitivity: Sensitivity, epsilon: Fraction
) -> Iterator[tuple[KNormNoise, ...]]:
    """The ways to draw the noise of all statistics together that cost `epsilon` in all."""
    if integer_parts(bounded.limited) != 1:
        return  # moves are of integers, and the engine's are parts of them
    if bounded.partition_count_index is not None or _reads_other_groups(bounded):
        return
    moves = sensitivity.per_group
    cells = math.prod(len(domain.cells) for domain in bounded.contributions.domains)
    if len(moves) * cells <= 1 or min(moves, default=0) < 1:
        return  # Of one integer it would be discrete Laplace noise; no group may be listed at all.
    laws = [KNorm.calibrated(epsilon, moves, cells=cells, units=1)]
    groups = _changed_groups(sensitivity)
    if groups is not None and len(moves) > 1 and groups < cells:
        units = 1 if sensitivity.is_replacement else sensitivity.units
        laws.append(KNorm.calibrated(epsilon / groups, moves, cells=1, units=units))
    if len(moves) > 1:
        laws.append(_limited_by_rows(bounded, sensitivity, epsilon))
    for law in laws:
        if law is not None:
            yield tuple(law.parts())


def one_direction_choices(
    bounded: BoundedRelease, sensitivity: Sensitivity, epsilon: Fraction
) -> Iterator[tuple[OneDirectionNoise, ...]]:
    """The same, where a unit that is added moves all statistics up, in each of its groups.

    Only where each column shows one statistic, as the noise of several is correlated. Of u units
    each has its own direction, and moves the levels by its part of them.
    """
    statistics, limited = bounded.contributions.statistics, bounded.limited
    if not _are_sums_that_are_shown(bounded, sensitivity):
        return
    intervals = [partial_interval(statistic, limited) for statistic in statistics]
    cells = math.prod(len(domain.cells) for domain in bounded.contributions.domains)
    if len(statistics) * cells <= 1 or any(low or not high for low, high in intervals):
        return
    groups = min(sensitivity.groups, cells)
    for drawn_cells, share in dict.fromkeys([(cells, epsilon), (1, epsilon / groups)]):
        if drawn_cells * len(statistics) > 1:
            law = OneDirection.calibrated(
                share, sensitivity.per_group, cells=drawn_cells, units=sensitivity.units
            )
            if law is not None:
                yield tuple(law.parts())


def correlated_choices(
    bounded: BoundedRelease, sensitivity: Sensitivity, costs: Sequence[float], rho: Fraction
) -> Iterator[tuple[tuple[CorrelatedNoise, ...], Fraction]]:
    """The ways to draw Gaussian noise with a shared part that cost at most `rho`, and their cost.

    Where units are added or removed, each moves the sums of its rows within their own intervals.
    Only where each column shows one statistic: what is computed of several would need to know how
    their noise is correlated.
    """
    statistics, limited = bounded.contributions.statistics, bounded.limited
    if not _are_sums_that_are_shown(bounded, sensitivity):
        return
    intervals = [partial_interval(statistic, limited) for statistic in statistics]
    widths = [high - low for low, high in intervals]
    cells = math.prod(len(domain.cells) for domain in bounded.contributions.domains)
    if not cells:
        return  # no group is listed, and no noise is drawn
    # Moves of u units are u times those of one at most, and lose u² as much.
    units = sensitivity.units**2
    for drawn_cells, groups in dict.fromkeys([(cells, 1), (1, min(sensitivity.groups, cells))]):
        if drawn_cells * len(statistics) > 1:
            law = split_correlated(intervals, costs, drawn_cells, rho / (units * groups))
            if law is not None:
                spent = units * groups * law.rho(widths)
                if spent > rho:
                    raise ArithmeticError("noise with a shared part passed its grant")
                yield tuple(law.parts()), spent


def _are_sums_that_are_shown(bounded: BoundedRelease, sensitivity: Sensitivity) -> bool:
    """Whether units are added or removed, and columns show sums of their rows, one each."""
    if integer_parts(bounded.limited) != 1:
        return False  # intervals are of integers, and the engine's are parts of them
    if bounded.partition_count_index is not None or sensitivity.is_replacement:
        return False
    are_sums = all(
        isinstance(s.term, RowCount | NonNullCount | UnitCount | Sum)
        for s in bounded.contributions.statistics
    )
    return are_sums and all(_shows_one(output) for output in bounded.outputs)


def _shows_one(output: EstimatedColumn) -> bool:
    formula = output.estimator
    if isinstance(formula, DividedSum):
        formula = formula.estimator
    return (
        isinstance(formula, LinearEstimator)
        and len(formula.summands) == 1
        and formula.cross_group is None
        and formula.row_variance is None
    )


def _changed_groups(sensitivity: Sensitivity) -> int | None:
    """In how many groups the integers of neighbours differ; None where that isn't worked out.

    Of u units that are added each is in `groups` groups, and moves them by 1/u of `per_group`.
    """
    if not sensitivity.is_replacement:
        return sensitivity.groups
    return 2 * sensitivity.groups if sensitivity.units == 2 else None


def _limited_by_rows(
    bounded: BoundedRelease, sensitivity: Sensitivity, epsilon: Fraction
) -> KNorm | None:
    """A draw for each group, where so many rows of a unit count in all of its groups together.

    Let u_g rows of a unit count in group g, at most r, and R in all, to which its rows were cut and
    its sums scaled. Each integer moves in group g by no more than u_g rows do, which are a
    part u_g/(k·r) of the largest move of all k units; so the level rises by ⌈q·u_g/(k·r)⌉ at most.
    In its groups, n of them, that is q·R/(k·r) + n in all, of k units q·R/r + k·n, at ε/q each.
    """
    limited, statistics = bounded.limited, bounded.contributions.statistics
    if sensitivity.is_replacement or not isinstance(limited, LimitGroups) or limited.rows is None:
        return None
    if not all(
        isinstance(s.term, RowCount | NonNullCount | Sum | Square | Product) for s in statistics
    ):
        return None  # a unit, or a value, counts where few of its rows do
    filled = Fraction(limited.rows, rows_per_group(limited))
    for parts in _PARTS:
        levels = parts * sensitivity.units * sensitivity.groups
        share = epsilon / (filled + Fraction(1, parts))
        law = KNorm.calibrated(share, sensitivity.per_group, cells=1, units=levels)
        if law is not None:
            return law
    return None


def _reads_other_groups(bounded: BoundedRelease) -> bool:
    formulas = (of_drawn(output.estimator) for output in bounded.outputs)
    return any(isinstance(f, LinearEstimator) and f.cross_group is not None for f in formulas)


def joint_notes(mechanisms: Sequence[Noise]) -> tuple[str, ...]:
    """What EXPLAIN says of noise that is drawn together."""
    match mechanisms:
        case [KNormNoise(law=law), *_]:
            what = _drawn(len(law.moves), law.cells)
            return (f"noise of {what} is drawn together: where one is far off, all are",)
        case [OneDirectionNoise(law=law), *_]:
            what = _drawn(len(law.moves), law.cells)
            return (
                f"noise of {what} is drawn together: where one is far off, all are",
                "a unit moves all of them up, or all down: sums of several are noisier",
            )
        case [CorrelatedNoise(law=law), *_]:
            what = _drawn(len(law.centers), law.cells)
            return (f"noise of {what} has a part in common: sums of several are noisier",)
        case _:
            return ()


def _drawn(statistics: int, cells: int) -> str:
    if cells == 1:
        return f"the {statistics} statistics of a group"
    return f"all {cells} groups" if statistics == 1 else f"all {cells} groups' statistics"


def noisy_integers(
    mechanisms: Sequence[Noise | NoNoise], totals: Sequence[Integers], randomness: Randomness
) -> list[Integers]:
    """The columns `totals` with the noise of `mechanisms`, one column for each.

    Columns may hold the groups of several answers, one answer after the other.
    """
    joint = [mechanism for mechanism in mechanisms if isinstance(mechanism, JointNoise)]
    if joint:
        law = joint[0].law
        if list(mechanisms) != law.parts():
            raise InternalError("noise that is drawn together has come apart")
        return law.release(totals, randomness)
    return [
        mechanism.release_vector(column, randomness)
        for mechanism, column in zip(mechanisms, totals, strict=True)
        if not isinstance(mechanism, JointNoise)
    ]
