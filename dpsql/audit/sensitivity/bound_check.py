"""What changed between two databases in the integers of a release, held to what was derived.

Exact integers, no tolerance: a change is within its bound in every norm, or it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, isqrt
from typing import assert_never

from dpsql.analysis.sensitivity import Sensitivity, rows_per_group
from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.release.selection_mechanism import ModeMechanism, SelectionMechanism
from dpsql.session.compile.compiled import CompiledRelease


def changes(before: Groups, after: Groups, count: int) -> list[tuple[int, ...]]:
    """By how much each of `count` statistics changed, for every group that changed."""
    zeros = (0,) * count
    return [
        tuple(abs(a - b) for a, b in zip(before.get(k, zeros), after.get(k, zeros), strict=True))
        for k in {*before, *after}
        if before.get(k) != after.get(k)
    ]


def violations(
    before: Groups, after: Groups, release: CompiledRelease, derived: Sensitivity
) -> Iterator[str]:
    """Every bound of `derived` that the change passes."""
    changed = changes(before, after, len(derived.per_group))
    if len(changed) > derived.groups * derived.units:
        yield f"groups [{changed}], derived {derived.groups} of each of {derived.units} units"
    for place, most in enumerate(derived.per_group):
        found = [change[place] for change in changed]
        if (
            max(found, default=0) > most
            or sum(found) > derived.l1.total(lambda p, c, own=place: Fraction(c * (p == own)))  # type: ignore[misc]
            or sum(x * x for x in found)
            > derived.l2.total(lambda p, c, own=place: Fraction(c * c * (p == own)))  # type: ignore[misc]
        ):
            yield f"statistic {place} by {found}, derived {most}"
    yield from _together(changed, release, derived)


def cell_changes(before: Histogram, after: Histogram) -> list[dict[int, int]]:
    """By how much each cell's count changed, for every group where one did."""
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
    """One unit adds or removes so many rows in each of so many groups, in all cells together."""
    rows = rows_per_group(release.step.bounded.limited)
    terms, choosers = release.step.bounded.contributions, release.step.measurement.choosers
    for ours, theirs, selection, chooser in zip(
        before, after, terms.cell_choices, choosers, strict=True
    ):
        for cell in {c for found in (ours, theirs) for cells in found.values() for c in cells}:
            if not 0 <= cell < selection.cells.count:
                yield f"statistic 0 of cells: there is no {cell}"
        found = cell_changes(ours, theirs)
        if len(found) > derived.groups * derived.units:
            yield f"groups [{found}] of cells, derived {derived.groups}"
        if max(map(rows_moved, found), default=0) > rows * derived.units:
            yield f"statistic 0 of cells by {found}, derived {rows * derived.units}"
        if derived == release.sensitivity and not is_covered_by_choice_loss(
            chooser, found, release
        ):
            yield f"statistic 0 of a choice by {found}"


def rows_moved(change: dict[int, int]) -> int:
    """How many rows came or went in all cells together."""
    return sum(map(abs, change.values()))


def is_covered_by_choice_loss(
    chooser: SelectionMechanism, changed: list[dict[int, int]], release: CompiledRelease
) -> bool:
    """Whether the choice's own parameters pay for all that changed in its cells."""
    match chooser:
        case Quantiles(rows=rows):
            most = rows * release.sensitivity.units
            return max(map(rows_moved, changed), default=0) <= most
        case ModeMechanism(mechanism=mechanism):
            accounting = release.step.measurement.loss.accounting
            # The log-probabilities of two cells come apart by as much: some cells don't change.
            spreads = [max(0, *c.values()) - min(0, *c.values()) for c in changed]
            losses = [spread * mechanism.rate for spread in spreads]
            bounded_range = accounting is Accounting.ZCDP
            cost = sum((x * x / 8 if bounded_range else x for x in losses), Fraction(0))
            return cost <= chooser.loss(accounting).amount
        case missing:
            assert_never(missing)


def _together(
    changed: list[tuple[int, ...]], release: CompiledRelease, derived: Sensitivity
) -> Iterator[str]:
    """Of statistics that can't all be extreme at once, too; weighted as their noise weighs them."""
    variances = [Fraction(m.variance) for m in release.step.measurement.mechanisms]
    wide = [Fraction(most) ** 2 for most in derived.per_group]
    # Where answers are shown as they were said, there is no noise to weigh them by.
    for squares in (variances, wide) if all(variances) else (wide,):
        l2 = sum(
            (Fraction(c * c) / s for row in changed for c, s in zip(row, squares, strict=True)),
            Fraction(0),
        )
        most = derived.l2.total(lambda p, c, s=squares: c * c / s[p])  # type: ignore[misc]
        if l2 > most:
            yield f"joint L2 norm {float(l2)}, derived {float(most)}"
        # Any weights will do, so roots may be rounded.
        scales = [Fraction(isqrt(ceil(square)) or 1) for square in squares]
        l1 = sum(
            (Fraction(c) / s for row in changed for c, s in zip(row, scales, strict=True)),
            Fraction(0),
        )
        most = derived.l1.total(lambda p, c, s=scales: c / s[p])  # type: ignore[misc]
        if l1 > most:
            yield f"joint L1 norm {float(l1)}, derived {float(most)}"
