"""Levels of one statement made to add up: `SET dpsql.consistent = on`.

    SELECT sex, insured, count(*) FROM patients GROUP BY CUBE (sex, insured)

Each grouping set is a release with noise of its own, so that the parts of a total don't add up to
it. Least squares finds the values nearest to all of them that do (`release.consistency`): free,
since only noisy numbers are read, and each with less noise than its release alone. What is drawn,
charged and stored is the same with the setting and without.

Levels are releases of a statement over the same rows, by other keys, whose cells are all shown. Of
them, sums over rows are made to add up, and what is computed of these: counts, sums, means and
variances. Not what two cells may share (units, distinct values), nor what is chosen.

Levels whose numbers of rows are public are measured as differences from what these tell: parts have
no such number, and their counts' noise is in no total. They are left as they are.

    limits  A unit's rows are limited in each level for itself, and rows whose key lies outside its
            domain are in the totals alone: where limits or domains cut, levels without noise don't
            add up either, and what one cuts is spread over all. The error told is that of noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

import pyarrow as pa
from msgspec import Struct

from dpsql.plan.bounded_release.estimator import (
    DividedSum,
    LinearEstimator,
    statistic_indices,
)
from dpsql.plan.bounded_release.statistic import NonNullCount, Product, RowCount, Square, Sum
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority
from dpsql.release.columns.confidence_interval import NoiseSpread, combined
from dpsql.release.columns.group_keys import listed_keys, number_of_cells
from dpsql.release.columns.released_table import noisy_statistics, with_statistics
from dpsql.release.consistency.levels import Nesting, nesting
from dpsql.release.consistency.margins import Margins
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.digest.canonical_digest import ReleaseDigests, digests
from dpsql.session.options import AnswerOptions

MAX_WORK = 2**24
"""So many numbers are computed for a statistic's margins: a part of a second."""


EqualReleases = tuple[CompiledRelease, ...]
"""Releases of one draw: how a statement names a level more than once."""


class ConsistentSums(Struct, frozen=True):
    """Levels that add up: `indices` has for each statistic its index in each level.

    `spreads` is the noise of the statistics of each release, by its name, as they are shown.
    """

    levels: tuple[EqualReleases, ...]
    nesting: Nesting
    indices: tuple[tuple[int, ...], ...]
    spreads: Mapping[str, tuple[NoiseSpread, ...]]

    def tables(self, released: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """The released tables of the levels, made to add up."""
        noisy = [
            noisy_statistics(level.step.bounded, released[level.name]) for level, *_ in self.levels
        ]
        changed: list[dict[int, Integers]] = [{} for _ in self.levels]
        for indices in self.indices:
            if any(index not in held for index, held in zip(indices, noisy, strict=True)):
                continue  # kept by a version that kept less
            values = [held[index] for index, held in zip(indices, noisy, strict=True)]
            own = [float(noise.variance) for noise in _noise(self.levels, indices)]
            whole = self.nesting.solved(values, own)
            for index, level, sums in zip(indices, changed, whole, strict=True):
                level[index] = sums
        return {
            one.name: with_statistics(
                one.step.bounded, released[one.name], those, self.spreads[one.name]
            )
            for level, those in zip(self.levels, changed, strict=True)
            if those
            for one in level
        }


class Consistency(Struct, frozen=True):
    """What is made to add up of a statement; `notes` say that, and what isn't and why."""

    sums: tuple[ConsistentSums, ...] = ()
    notes: tuple[str, ...] = ()

    def spreads(self, release: CompiledRelease) -> tuple[NoiseSpread, ...]:
        """The noise of the statistics of `release`, as they are shown."""
        shown = (group.spreads.get(release.name) for group in self.sums)
        return next(filter(None, shown), release.step.measurement.mechanisms)

    def without(self, summed_up: Iterable[str]) -> Consistency:
        """Nothing adds up where a level is summed from a stored one: their noise is the same."""
        names = set(summed_up)
        if all(names.isdisjoint(group.spreads) for group in self.sums):
            return self
        return Consistency(notes=("not made to add up: levels are summed from a stored answer",))

    def tables(self, released: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """`released`, with the levels that add up in the place of those that were drawn."""
        tables = dict(released)
        for group in self.sums:
            tables |= group.tables(released)
        return tables


INCONSISTENT = Consistency()
"""Nothing is made to add up."""


def consistency(releases: Sequence[CompiledRelease], options: AnswerOptions) -> Consistency:
    """What of a statement's `releases` can be made to add up, by its plan alone."""
    if not options.consistent or len(releases) < 2:
        return INCONSISTENT
    read = {name for release in releases for name in release.step.reads}
    notes: list[str] = []
    rows: dict[str, list[tuple[CompiledRelease, ReleaseDigests]]] = {}
    for release in releases:
        reason = _left_out(release, read)
        if reason is None:
            own_digests = digests(release.step.bounded)
            rows.setdefault(own_digests.rows, []).append((release, own_digests))
        else:
            notes.append(f"{_by(release)}: not made to add up, {reason}")
    sums: list[ConsistentSums] = []
    for group in rows.values():
        match _sums(group):
            case ConsistentSums() as added:
                sums.append(added)
                notes += _notes(added)
            case str(reason):
                notes.append(reason)
            case None:
                pass
    return Consistency(tuple(sums), tuple(notes))


def _left_out(release: CompiledRelease, read: Iterable[str]) -> str | None:
    bounded = release.step.bounded
    formulas = [output.estimator for output in bounded.outputs]
    match release.step.measurement.table_mechanism:
        case MwemParameters():
            return "it is a synopsis, whose parts add up by themselves"
        case MarginalNoise():
            return "it is a dashboard, whose charts add up by themselves"
        case WeightedMajority():
            return "it chooses experts, which don't add up"
        case AboveThreshold() | ThresholdStream():
            return "it names conditions, which don't add up"
        case None:
            pass
        case missing:
            assert_never(missing)
    if bounded.partition_count_index is not None:
        return "its groups are shown where noise says that there are enough units"
    if bounded.min_units is not None and bounded.min_units.threshold is None:
        return "groups that may be empty are left out"
    if bounded.min_units is not None:
        return "groups of few units are left out (dpsql.min_units)"
    if release.step.measurement.mechanisms and not release.step.measurement.noise:
        return "nothing is added to its randomised answers"
    if any(isinstance(f, LinearEstimator) and f.cross_group is not None for f in formulas):
        return "its groups are of randomised answers"
    if any(isinstance(f, DividedSum) for f in formulas):
        return "its groups have caps of their own"
    if any(isinstance(f, LinearEstimator) and f.minimum is not None for f in formulas):
        return "counts below 0 are shown as 0 (dpsql.nonnegative)"
    if any(isinstance(f, LinearEstimator) and (f.constant or not f.summands) for f in formulas):
        return "it is told from the public number of its rows"
    if release.step.reads or release.name in read:
        return "one release is drawn on the noisy rows of another"
    return None


def _sums(group: Sequence[tuple[CompiledRelease, ReleaseDigests]]) -> ConsistentSums | str | None:
    """The levels of releases over the same rows, why they don't add up, or None: there is one."""
    by_keys: dict[frozenset[str], list[tuple[CompiledRelease, ReleaseDigests]]] = {}
    for release, own_digests in group:
        same = by_keys.setdefault(frozenset(own_digests.keys), [])
        # Other statistics by the same keys are levels of another hierarchy, if of any.
        if not same or same[0][0].key == release.key:
            same.append((release, own_digests))
    if len(by_keys) < 2:
        return None
    ordered = [by_keys[keys] for keys in sorted(by_keys, key=len)]
    firsts = [same[0] for same in ordered]
    keys = [
        dict(zip(own_digests.keys, listed_keys(r.step.bounded, r.step.query).ordered, strict=True))
        for r, own_digests in firsts
    ]
    nested = nesting(keys, [number_of_cells(release.step.query) for release, _ in firsts])
    names = "; ".join(_by(release) for release, _ in firsts)
    if nested is None:
        return f"{names}: not made to add up, their groups are not all combinations of their keys"
    if isinstance(nested, Margins) and nested.work > MAX_WORK:
        return f"{names}: not made to add up, they have too many groups"
    indices = tuple(_indices(firsts))
    if not indices:
        return f"{names}: not made to add up, no noisy sum over rows is in all of them"
    levels = tuple(tuple(release for release, _ in same) for same in ordered)
    return ConsistentSums(levels, nested, indices, _spreads(levels, nested, indices))


def _indices(levels: Sequence[tuple[CompiledRelease, ReleaseDigests]]) -> Iterator[tuple[int, ...]]:
    """Of each statistic that all levels have and whose sums add up, its index in each."""
    known = [
        {own_digests.statistics[index]: index for index in _additive(release)}
        for release, own_digests in levels
    ]
    for digest, index in known[0].items():
        if all(digest in level for level in known[1:]):
            yield (index, *(level[digest] for level in known[1:]))


def _additive(release: CompiledRelease) -> Iterator[int]:
    """Sums over rows. Units that are counted as rows are no such sums: one may be in two cells."""
    units = {a.column.id for a in release.release.aggregates if a.call.distinct}
    outputs = release.step.bounded.outputs
    shared = {p for o in outputs if o.column.id in units for p in statistic_indices(o.estimator)}
    for index, statistic in enumerate(release.step.bounded.contributions.statistics):
        if index not in shared and isinstance(
            statistic.term, RowCount | NonNullCount | Sum | Square | Product
        ):
            yield index


def _spreads(
    levels: Sequence[EqualReleases], nesting: Nesting, indices: Sequence[tuple[int, ...]]
) -> dict[str, tuple[NoiseSpread, ...]]:
    spreads: list[list[NoiseSpread]] = [
        list(same[0].step.measurement.mechanisms) for same in levels
    ]
    for each in indices:
        own = _noise(levels, each)
        variances = nesting.variances([float(noise.variance) for noise in own])
        for level, position, spread in zip(spreads, each, combined(own, variances), strict=True):
            level[position] = spread
    return {one.name: tuple(own) for same, own in zip(levels, spreads, strict=True) for one in same}


def _noise(levels: Sequence[EqualReleases], indices: Sequence[int]) -> list[Noise]:
    return [
        same[0].step.measurement.noise[index] for same, index in zip(levels, indices, strict=True)
    ]


def _notes(sums: ConsistentSums) -> Iterator[str]:
    names = "; ".join(_by(same[0]) for same in sums.levels)
    yield f"{names}: made to add up (dpsql.consistent)"
    finest = sums.levels[-1][0]
    added = {indices[-1] for indices in sums.indices}
    others = [
        finest.display_name(output.column)
        for output in finest.step.bounded.outputs
        if not statistic_indices(output.estimator)
        or not added.issuperset(statistic_indices(output.estimator))
    ]
    if others:
        yield f"{', '.join(dict.fromkeys(others))}: no sums over rows, shown as they were drawn"


def _by(release: CompiledRelease) -> str:
    if release.opaque is not None:
        return f"view {release.opaque.view}"
    keys = ", ".join(key.column.name for key in release.step.bounded.contributions.keys)
    return f"by {keys}" if keys else "in total"
