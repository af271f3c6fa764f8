"""An answer summed from a stored answer's noisy cells, on request: free, and noisier.

    SELECT status, priority, count(*) FROM orders GROUP BY 1, 2      charged, and stored
    SELECT status, count(*) FROM orders GROUP BY 1                   summed over its priorities

Sound: stored cells were paid for, and what is computed of them alone is post-processing; no private
row is read. Unbiased: each cell has noise of its own, drawn independently around 0 in one release,
so a sum of n cells is the sum of n bounded counts or sums, with n times the variance. Cells of two
releases are never added up, nor is a cell counted twice: they partition the rows that they count.

What is summed isn't exactly what a direct answer would be of. A unit's limits held in each finer
group and over all of them, not in the coarser ones, so units above a limit are cut elsewhere; and
rows whose dropped keys lie outside their domains are in no cell. Hence only where it is asked for.

Left to a charge: thresholds and the least number of units, which left cells out; values shown as 0
instead of less, which are biased; distinct values, and units, which two cells may share; means and
all else that isn't linear; releases that read others or are read by others; other limits set for
the session; and stored answers that were asked for at a smaller ε than is asked for now.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import assert_never

import pyarrow as pa
from msgspec import Struct

from dpsql.engine.digest import Digest, digest_of
from dpsql.plan.aggregate import AggregateFunction, OutputKind
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.noise import JointNoise
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.release.add_noise import listed_cells
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.columns.confidence_interval import OF_PARTS
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.request import (
    AlertRequest,
    AnswerRequest,
    DashboardRequest,
    SynopsisRequest,
)
from dpsql.session.digest.sum_digest import SumDigests, sum_digests
from dpsql.structs import replace

MAX_RELEASES = 64
"""How many answers a session remembers."""

_SUMMED = frozenset({AggregateFunction.COUNT, AggregateFunction.SUM})


class RollUp(Struct, frozen=True):
    """`target` is summed over `groups`: for each of its cells the rows of `source`'s stored table.

    `outputs` are the indices in `source` of what is asked for.
    """

    target: CompiledRelease
    source: CompiledRelease
    groups: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many noisy cells are in a value, at most."""
        return max(map(len, self.groups))

    @property
    def variance(self) -> float:
        """What tells the less noisy of two."""
        mechanisms = self.source.step.measurement.mechanisms
        return self._growth * sum(float(m.variance) for m in mechanisms)

    @property
    def _growth(self) -> float:
        """How much larger a sum's variance is than a cell's, at most.

        A part of it that all cells share grows as a square.
        """
        noise = self.source.step.measurement.noise
        shared = max(
            (
                float(m.shared_part)
                for m in noise
                if isinstance(m, CorrelatedNoise | OneDirectionNoise)
            ),
            default=0.0,
        )
        return self.cells * (1 - shared) + self.cells**2 * shared

    def table(self, stored: pa.Table) -> pa.Table:
        """The released table of `target`, of the one of `source`."""
        bounded = self.target.step.bounded
        cells = listed_cells(bounded, self.target.step.query)
        arrays = {
            f"c{key.column.id}": arrow_array([cell[n] for cell in cells], key.column.type)
            for n, key in enumerate(bounded.contributions.keys)
        }
        keys = len(self.source.step.bounded.contributions.keys)
        for output, index in zip(bounded.outputs, self.outputs, strict=True):
            values = [Fraction(value) for value in stored.column(keys + index).to_pylist()]
            sums = [sum((values[row] for row in rows), Fraction(0)) for rows in self.groups]
            arrays[f"c{output.column.id}"] = arrow_array(sums, output.column.type)
        return pa.table(arrays)

    def noisier(self, column: ColumnPrivacy) -> ColumnPrivacy:
        """How a column of `target` was made, `column` being that of `source`.

        A 95 % half-width grows as the deviation at most: of a sum of Laplace noises it is ever
        fewer standard deviations, from 2.12 down to the 1.96 of a Gaussian's. Of noise that is
        drawn together it may be fewer for a cell than for a sum.
        """
        grown = math.sqrt(self._growth)
        width = column.half_width
        if any(isinstance(m, JointNoise) for m in self.source.step.measurement.mechanisms):
            width = None if width is None else max(width, OF_PARTS * column.scale)
        grown_width = None if width is None else width * grown
        bias = None if column.bias is None else column.bias.times(self.cells)
        return replace(column, scale=column.scale * grown, half_width=grown_width, bias=bias)


class RollUpSources:
    """The latest releases that a session was given the answers of, with their statements.

    Answers of other sessions are found by asking for them, which is free for the dataset.
    """

    def __init__(self) -> None:
        self._answered: dict[str, tuple[CompiledStatement, CompiledRelease]] = {}

    def add(self, compiled: CompiledStatement, releases: Iterable[CompiledRelease]) -> None:
        """The answers of these releases of `compiled` are stored, and were given."""
        for release in releases:
            self._answered.pop(release.key, None)
            self._answered[release.key] = compiled, release
        for key in list(self._answered)[:-MAX_RELEASES]:
            del self._answered[key]

    def roll_ups(
        self, compiled: CompiledStatement, missing: Sequence[CompiledRelease]
    ) -> dict[str, RollUp]:
        """For those of `missing`, by name, that a given answer can be summed to, how.

        They are releases of `compiled` that aren't stored. Where that is asked for.
        """
        if not compiled.options.answer.reuse:
            return {}
        read = {name for release in compiled.releases for name in release.step.reads}
        known = [release for source, release in self._answered.values() if _fits(source, compiled)]
        best: dict[str, RollUp] = {}
        for target in missing:
            if target.name not in read and _is_additive(target):
                ways = [way for fine in known if (way := _roll_up(target, fine)) is not None]
                if ways:
                    best[target.name] = min(ways, key=lambda way: way.variance)
        return best


def _fits(source: CompiledStatement, target: CompiledStatement) -> bool:
    """The same data under the same limits, at no smaller ε for each release."""
    return (
        source.version == target.version
        and _choices(source) == _choices(target)
        and source.query_loss.amount * len(target.releases)
        >= target.query_loss.amount * len(source.releases)
    )


def _choices(compiled: CompiledStatement) -> tuple[object, ...]:
    """What decides how a release is drawn, beside its plan and its ε, and what it may cost."""
    options = compiled.options
    choices = options.limits, options.release, options.price
    match compiled.request:
        case AnswerRequest():
            return choices
        case AlertRequest(checks=checks):
            return (*choices, checks)
        case SynopsisRequest(rounds=rounds):
            return (*choices, rounds)
        case DashboardRequest():
            return (*choices, compiled.statement.charts)
        case missing:
            assert_never(missing)


def _is_additive(release: CompiledRelease) -> bool:
    """Its values over disjoint sets of rows add up to those over all of them."""
    return all(
        aggregate.call.function in _SUMMED
        and aggregate.call.output_kind is OutputKind.VALUE
        # Also where units are counted as rows: a unit may be in two cells.
        and not aggregate.call.distinct
        for aggregate in release.release.aggregates
    )


def _roll_up(target: CompiledRelease, source: CompiledRelease) -> RollUp | None:
    if not (_has_all_cells(target) and _has_all_cells(source)):
        return None
    of_target, of_source = (sum_digests(release.step.bounded) for release in (target, source))
    if of_target.rows != of_source.rows or not set(of_target.keys) < set(of_source.keys):
        return None
    sums = _sums(source, of_source)
    indices = [sums.get(digest) for digest in _sums(target, of_target)]
    outputs = tuple(index for index in indices if index is not None)
    if not outputs or len(outputs) < len(target.step.bounded.outputs):
        return None
    groups = _groups(target, source, [of_source.keys.index(key) for key in of_target.keys])
    return None if groups is None else RollUp(target, source, groups, outputs)


def _has_all_cells(release: CompiledRelease) -> bool:
    return release.step.lists_cells and not release.step.reads


def _sums(release: CompiledRelease, digests: SumDigests) -> dict[Digest, int]:
    """What the outputs mean that are plain sums over rows, with their types and indices."""
    sums: dict[Digest, int] = {}
    pairs = zip(release.step.bounded.outputs, digests.values, strict=True)
    for index, (output, meaning) in enumerate(pairs):
        if meaning is not None:
            sums.setdefault(digest_of("typed", meaning, str(output.column.type)), index)
    return sums


def _groups(
    target: CompiledRelease, source: CompiledRelease, keys: list[int]
) -> tuple[tuple[int, ...], ...] | None:
    """For each cell of `target` the rows of `source` in it; None if the cells aren't the same."""
    rows: dict[Cell, list[int]] = {}
    for row, cell in enumerate(listed_cells(source.step.bounded, source.step.query)):
        rows.setdefault(tuple(cell[key] for key in keys), []).append(row)
    cells = listed_cells(target.step.bounded, target.step.query)
    if rows.keys() != set(cells):
        return None
    return tuple(tuple(rows[cell]) for cell in cells)
