"""Changes of a release's integers between two databases, compared with the derived bounds.

The integers are exact and the comparison has no tolerance: each change is within its bound in every
norm, or a violation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, isqrt
from typing import assert_never

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.analysis.unit_contribution import partial_interval, rows_per_group
from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.audit.noise_likelihood import loss_of_change
from dpsql.audit.sensitivity.chosen_counts import covers_counts, largest_moves
from dpsql.plan.bounded_release.bounded_release import integer_parts
from dpsql.plan.bounded_release.cell_selection import (
    CountedCells,
    FrequentCell,
    ThresholdScores,
    TopCells,
)
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.privacy.mechanisms.selection.exponential import amount_of_range
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.release.selection_mechanism import (
    CountedTopMechanism,
    ModeMechanism,
    ScoreMechanism,
    SelectionMechanism,
    TopMechanism,
)
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace


def changes(before: Groups, after: Groups, count: int) -> list[tuple[int, ...]]:
    """The absolute change of each of `count` statistics, for every group that changed."""
    zeros = (0,) * count
    return [
        tuple(abs(a - b) for a, b in zip(before.get(k, zeros), after.get(k, zeros), strict=True))
        for k in {*before, *after}
        if before.get(k) != after.get(k)
    ]


def violations(
    before: Groups, after: Groups, release: CompiledRelease, derived: Sensitivity
) -> Iterator[str]:
    """Every bound of `derived` that the change exceeds, in words."""
    yield from change_violations(changes(before, after, len(derived.per_group)), release, derived)
    if derived == release.sensitivity and not is_in_one_direction(before, after, release):
        yield "statistic 0 of correlated noise in both directions"


def is_in_one_direction(before: Groups, after: Groups, release: CompiledRelease) -> bool:
    """Whether all statistics move as those of a unit do that is added, or all as of one removed.

    Noise with a shared part rests on that, and so does K-norm noise in one direction. Several units
    may move them in both.
    """
    measured = release.step.measurement.noise
    if not any(isinstance(m, CorrelatedNoise | OneDirectionNoise) for m in measured):
        return True
    if release.sensitivity.units > 1 and not release.sensitivity.is_replacement:
        return True
    bounded = release.step.bounded
    intervals = [partial_interval(s, bounded.limited) for s in bounded.contributions.statistics]
    if any(isinstance(m, OneDirectionNoise) for m in measured):
        intervals = [(0, high) for _, high in intervals]
    zeros = (0,) * len(intervals)
    return any(
        all(
            low <= sign * (ours - theirs) <= high
            for key in {*before, *after}
            for ours, theirs, (low, high) in zip(
                before.get(key, zeros), after.get(key, zeros), intervals, strict=True
            )
        )
        for sign in (1, -1)
    )


def change_violations(
    changed: Sequence[tuple[int, ...]], release: CompiledRelease, derived: Sensitivity
) -> Iterator[str]:
    """Every bound of `derived` that the `changes` of two databases exceed, in words.

    Changes are of the engine's integers, bounds of the release's.
    """
    parts = integer_parts(release.step.bounded.limited)
    if len(changed) > derived.groups * derived.units:
        yield f"groups [{changed}], derived {derived.groups} of each of {derived.units} units"
    for index, bound in enumerate(derived.per_group):
        per_group = [change[index] for change in changed]
        if (
            max(per_group, default=0) > parts * bound
            or sum(per_group)
            > parts * derived.l1.total(lambda p, c, own=index: Fraction(c * (p == own)))  # type: ignore[misc]
            or sum(x * x for x in per_group)
            > parts**2 * derived.l2.total(lambda p, c, own=index: Fraction(c * c * (p == own)))  # type: ignore[misc]
        ):
            yield f"statistic {index} by {per_group}, derived {bound}"
    yield from _together(changed, release, derived)
    if derived == release.sensitivity and not is_covered_by_joint_noise(changed, release):
        yield f"statistic 0 of noise that is drawn together by {changed}"
    if derived == release.sensitivity and not is_covered_by_mu_squared(changed, release):
        yield f"statistic 0 of Gaussian noise, in all groups by {changed}"


def is_covered_by_joint_noise(changed: Sequence[tuple[int, ...]], release: CompiledRelease) -> bool:
    """Whether the charged loss covers what noise that is drawn together loses.

    A level is ε/q, and a vector rises by as many as the farthest of its integers is moved by.
    """
    measured = release.step.measurement.noise
    laws = {m.law for m in measured if isinstance(m, KNormNoise | OneDirectionNoise)}
    for law in laws:
        levels = [
            max(
                -(-change * law.levels // move) for change, move in zip(row, law.moves, strict=True)
            )
            for row in changed
        ]
        # One draw is for all cells, or each group has its own.
        moved = max(levels, default=0) if law.cells > 1 else sum(levels)
        if moved * law.epsilon / law.levels > release.step.measurement.loss.amount:
            return False
    return True


def is_covered_by_mu_squared(changed: Sequence[tuple[int, ...]], release: CompiledRelease) -> bool:
    """Whether the loss that a gdp ledger is charged covers what rounded Gaussian noise loses."""
    measurement = release.step.measurement
    if measurement.loss.accounting is not Accounting.GDP or not measurement.noise:
        return True
    if any(isinstance(m, CorrelatedNoise) for m in measurement.noise):
        return True  # that of noise with a shared part is no sum over statistics
    spent = sum(
        (
            loss_of_change(mechanism, change)
            for row in changed
            for mechanism, change in zip(measurement.noise, row, strict=True)
        ),
        Fraction(0),
    )
    return spent <= measurement.loss.amount


def cell_changes(before: Histogram, after: Histogram) -> list[dict[int, int]]:
    """The change of each cell's count, for every group where one changed."""
    return [
        {c: a.get(c, 0) - b.get(c, 0) for c in {*a, *b}}
        for key in {*before, *after}
        for a, b in [(before.get(key, {}), after.get(key, {}))]
        if a != b
    ]


def cell_violations(
    before: Sequence[Histogram],
    after: Sequence[Histogram],
    release: CompiledRelease,
    derived: Sensitivity,
) -> Iterator[str]:
    """Every bound on the rows of cells that the change exceeds, in words.

    One unit adds or removes so many rows in each of so many groups, in all cells together.
    """
    rows = rows_per_group(release.step.bounded.limited)
    terms, choosers = release.step.bounded.contributions, release.step.measurement.choosers
    for ours, theirs, selection, chooser in zip(
        before, after, terms.cell_choices, choosers, strict=True
    ):
        for cell in {c for groups in (ours, theirs) for cells in groups.values() for c in cells}:
            if not 0 <= cell < selection.cells.count:
                yield f"statistic 0 of cells: there is no {cell}"
        changed = cell_changes(ours, theirs)
        if len(changed) > derived.groups * derived.units:
            yield f"groups [{changed}] of cells, derived {derived.groups}"
        moved = (
            (max(map(abs, change.values())) for change in changed)
            if isinstance(selection.target, FrequentCell | TopCells | CountedCells)
            else map(rows_moved, changed)
        )
        max_rows = rows * derived.units
        if isinstance(selection.target, FrequentCell | TopCells | CountedCells):
            max_rows = selection.target.rows * derived.units
        if max(moved, default=0) > max_rows:
            yield f"statistic 0 of cells by {changed}, derived {max_rows}"
        if derived == release.sensitivity and not is_covered_by_choice_loss(
            chooser, changed, release
        ):
            yield f"statistic 0 of a choice by {changed}"


def rows_moved(change: dict[int, int]) -> int:
    """How many rows were added or removed, in all cells together."""
    return sum(map(abs, change.values()))


def is_covered_by_choice_loss(
    chooser: SelectionMechanism, changed: list[dict[int, int]], release: CompiledRelease
) -> bool:
    """Whether the loss of the choice covers all that changed in its cells."""
    match chooser:
        case Quantiles(rows=rows):
            max_moved = rows * release.sensitivity.units
            return max(map(rows_moved, changed), default=0) <= max_moved
        case ModeMechanism() | TopMechanism():
            accounting = release.step.measurement.loss.accounting
            return _cost_of_choice(chooser, changed, accounting) <= chooser.loss(accounting).amount
        case CountedTopMechanism(top=top, noise=noise):
            # Any cells may be chosen, and then counted with what is left of the charged loss.
            charged = release.step.measurement.loss
            cost = _cost_of_choice(top, changed, charged.accounting)
            left = replace(charged, amount=charged.amount - cost)
            units = release.sensitivity.units
            return left.amount >= 0 and all(
                covers_counts(left, noise, largest_moves([*change.values()], top.count), units)
                for change in changed
            )
        case ScoreMechanism(mechanism=mechanism, scores=scores):
            accounting = release.step.measurement.loss.accounting
            moves = [score_moves(scores, each) for each in changed]
            losses = [(max(own) - min(own)) * mechanism.rate for own in moves]
            cost = sum((amount_of_range(x, accounting) for x in losses), Fraction(0))
            return cost <= chooser.loss(accounting).amount
        case missing:
            assert_never(missing)


def _cost_of_choice(
    chooser: ModeMechanism | TopMechanism, changed: list[dict[int, int]], accounting: Accounting
) -> Fraction:
    """What the choice loses where the counts of its cells change so."""
    choices = chooser.count if isinstance(chooser, TopMechanism) else 1
    # A spread is the change of two cells' log-probabilities; some cells don't change.
    spreads = (max(0, *c.values()) - min(0, *c.values()) for c in changed)
    losses = [spread * chooser.mechanism.rate for spread in spreads for _ in range(choices)]
    return sum((amount_of_range(x, accounting) for x in losses), Fraction(0))


def score_moves(scores: ThresholdScores, change: dict[int, int]) -> list[int]:
    """How far each candidate's score moves where the counts of cells change by `change`."""
    return [
        weight * sum(rows for cell, rows in change.items() if cell >= first)
        for first, weight in zip(scores.first_cells, scores.weights, strict=True)
    ]


def _together(
    changed: Sequence[tuple[int, ...]], release: CompiledRelease, derived: Sensitivity
) -> Iterator[str]:
    """Violations of the joint norms of all statistics, which can't all be extreme at once.

    The statistics are weighted as their noise weighs them, and by their own bounds.
    """
    parts = integer_parts(release.step.bounded.limited)
    variances = [Fraction(m.variance) for m in release.step.measurement.mechanisms]
    wide = [Fraction(bound) ** 2 for bound in derived.per_group]
    # Randomized responses are shown as they are, without noise that could weigh them; what a
    # decision sums has none.
    for squares in (variances, wide) if variances and all(variances) else (wide,):
        l2 = sum(
            (Fraction(c * c) / s for row in changed for c, s in zip(row, squares, strict=True)),
            Fraction(0),
        )
        bound = derived.l2.total(lambda p, c, s=squares: c * c / s[p])  # type: ignore[misc]
        if l2 > parts**2 * bound:
            yield f"joint L2 norm {float(l2)} of {parts} parts, derived {float(bound)}"
        # Any weights will do, so roots may be rounded.
        scales = [Fraction(isqrt(ceil(square)) or 1) for square in squares]
        l1 = sum(
            (Fraction(c) / s for row in changed for c, s in zip(row, scales, strict=True)),
            Fraction(0),
        )
        bound = derived.l1.total(lambda p, c, s=scales: c / s[p])  # type: ignore[misc]
        if l1 > parts * bound:
            yield f"joint L1 norm {float(l1)} of {parts} parts, derived {float(bound)}"
