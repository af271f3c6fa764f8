"""How much neighboring databases differ in a release, compared with the derived bounds.

An enumeration proves nothing about databases that it doesn't hold. But a pair that exceeds a bound
disproves the bound, and a pair that meets it shows that the bound is tight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import chain

import duckdb
import pyarrow as pa
from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.audit.databases.candidate_units import in_words
from dpsql.audit.databases.database_batch import Histogram, StatementFails
from dpsql.audit.databases.search_space import SearchSpace, Size, compiled, search_space
from dpsql.audit.databases.synthetic_engine import WorldEngine
from dpsql.audit.sensitivity.bound_check import (
    cell_changes,
    cell_violations,
    change_violations,
    changes,
    rows_moved,
)
from dpsql.engine.source import DuckDBSource
from dpsql.plan.bounded_release.bounded_release import integer_parts
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, run
from dpsql.schema.model import Neighbors, Schema
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.explain.sensitivity_text import format_cell_choice, format_statistic

SALTS = ("1", "2")


class Witness(Struct, frozen=True):
    """Two neighboring databases in words: for each unit of either, its rows, one a line."""

    one: tuple[tuple[str, ...], ...]
    other: tuple[tuple[str, ...], ...]


class Finding(Struct, frozen=True):
    """A number of a release, in its own unit: its derived bound, and its largest observed change.

    `derived` is None where no bound is claimed; `witness` is a pair with the observed change, None
    if nothing changed.
    """

    description: str
    derived: Fraction | None
    observed: Fraction
    witness: Witness | None

    @property
    def tightness(self) -> float | None:
        """Observed over derived: at 1 the bound is met, above 1 it is broken."""
        return None if not self.derived else float(self.observed / self.derived)


class SensitivityAudit(Struct, frozen=True):
    """The audit of a statement over all enumerated pairs; `violations` name exceeded bounds.

    `apart` is the distance of neighbors in units; `plain` are the changes of DuckDB's own answer.
    """

    sql: str
    neighbors: Neighbors
    apart: int
    databases: int
    pairs: int
    findings: tuple[Finding, ...]
    plain: tuple[Finding, ...]
    violations: tuple[str, ...]


def audit_sensitivity(
    sql: str, schema: Schema, neighbors: Neighbors | None = None, size: Size | None = None
) -> SensitivityAudit:
    """Compare the releases of `sql` on all pairs of small neighboring databases with their bounds.

    A release that reads other releases is compared for fixed values of those. `neighbors` may be
    another relation than the schema's: bounds are derived for it, nothing is answered.
    """
    relation, size = neighbors or schema.neighbors, size or Size()
    ready = compiled(sql, schema, schema.per_query.max_epsilon)
    tables: dict[str, pa.Table] = {}
    databases, pairs = 0, 0
    findings: list[Finding] = []
    plain: list[Finding] = []
    broken: list[str] = []
    for release in ready.releases:
        space = search_space(release.release, schema, relation, size)
        databases, pairs = databases + space.worlds.count, pairs + len(space.pairs)
        derived = sensitivity(release.step.bounded, relation.distance(size.distance))
        try:
            seen, passed = _release(release, derived, space, tables)
        except StatementFails as failure:
            # Changes among the other databases bound nothing then.
            units = space.units(failure.world)
            rows = "; ".join(line for unit in units for line in in_words(unit, schema))
            broken.append(f"it fails where there are {rows or 'no rows'}")
            break
        findings += seen
        broken += passed
        if len(ready.releases) == 1 and not release.step.bounded.contributions.keys:
            with suppress(StatementFails):  # as written, it may fail: there is nothing to compare
                plain += _plain(ready, sql, space)
        job = Job(DuckDBSource(), (release.step,))
        tables |= run(job, WorldEngine(space.worlds, 0), SystemRandomness(), tables)
    return SensitivityAudit(
        sql,
        relation,
        size.distance,
        databases,
        pairs,
        tuple(findings),
        tuple(plain),
        tuple(dict.fromkeys(broken)),
    )


def _release(
    release: CompiledRelease,
    derived: Sensitivity,
    space: SearchSpace,
    tables: dict[str, pa.Table],
) -> tuple[list[Finding], list[str]]:
    """The findings of one release over all pairs and two salts, and the bounds it exceeds."""
    bounded = release.step.bounded
    statistics, selections = bounded.contributions.statistics, bounded.contributions.cell_choices
    seen = _Largest(space, len(statistics) + len(selections) + 1)
    broken: list[str] = []
    checked: set[tuple[tuple[int, ...], ...]] = set()
    for salt in SALTS:
        totals = space.worlds.totals(release, salt, tables)
        cells = space.worlds.histograms(release, salt)
        for one, other in space.pairs:
            changed = changes(totals[one], totals[other], len(statistics))
            # Thousands of pairs change alike, and bounds are exact fractions.
            if (alike := tuple(sorted(changed))) not in checked:
                checked.add(alike)
                broken += change_violations(changed, release, derived)
            broken += cell_violations(cells[one], cells[other], release, derived)
            seen.note((one, other), _numbers(changed, cells, one, other, len(statistics)))
    units, per_cell = derived.units, rows_per_group(bounded.limited) * derived.units
    bounds = [
        (format_statistic(s), m * s.step)
        for s, m in zip(statistics, derived.per_group, strict=True)
    ]
    bounds += [(format_cell_choice(s, bounded), Fraction(per_cell)) for s in selections]
    bounds += [("groups", Fraction(derived.groups * units))]
    parts = integer_parts(bounded.limited)
    scales = [
        *(s.step / parts for s in statistics),
        *(Fraction(1) for _ in selections),
        Fraction(1),
    ]
    findings = [
        Finding(about, bound, Fraction(number) * scale, seen.witness(index))
        for index, ((about, bound), number, scale) in enumerate(
            zip(bounds, seen.largest, scales, strict=True)
        )
    ]
    return findings, broken


def _numbers(
    changed: Sequence[tuple[int, ...]],
    cells: Sequence[list[Histogram]],
    one: int,
    other: int,
    count: int,
) -> list[int]:
    """The largest change of each statistic, of rows in each selection, and the changed groups."""
    in_cells = [cell_changes(a, b) for a, b in zip(cells[one], cells[other], strict=True)]
    return [
        *(max((change[index] for change in changed), default=0) for index in range(count)),
        *(max(map(rows_moved, changes_in_cells), default=0) for changes_in_cells in in_cells),
        max(len(changed), *map(len, in_cells), 0) if in_cells else len(changed),
    ]


class _Largest:
    """The largest values of some numbers, and the pairs that they were seen on."""

    def __init__(self, space: SearchSpace, count: int) -> None:
        self._space = space
        self.largest: list[float] = [0] * count
        self._where: list[tuple[int, int] | None] = [None] * count

    def note(self, pair: tuple[int, int], numbers: Sequence[float]) -> None:
        for index, number in enumerate(numbers):
            if number > self.largest[index]:
                self.largest[index], self._where[index] = number, pair

    def witness(self, index: int) -> Witness | None:
        pair = self._where[index]
        return None if pair is None else witness(self._space, pair)


def witness(space: SearchSpace, pair: tuple[int, int]) -> Witness:
    """A pair of databases in words."""
    one, other = (
        tuple(tuple(in_words(unit, space.worlds.schema)) for unit in space.units(world))
        for world in pair
    )
    return Witness(one, other)


def _plain(schema: CompiledStatement, sql: str, space: SearchSpace) -> list[Finding]:
    """The largest changes of plain DuckDB's own answer, for which no bound is derived."""
    try:
        answers = space.worlds.run(sql)
    except duckdb.Error:
        return []  # a function of ours, or a text that DuckDB reads otherwise
    largest = _Largest(space, len(schema.statement.names))
    for one, other in space.pairs:
        rows = (chain(*answers[world]) for world in (one, other))
        largest.note((one, other), [_differ(a, b) for a, b in zip(*rows, strict=True)])
    return [
        Finding(
            f"{name}, without bounds or noise", None, Fraction(max_change), largest.witness(index)
        )
        for index, (name, max_change) in enumerate(
            zip(schema.statement.names, largest.largest, strict=True)
        )
    ]


def _differ(one: object, other: object) -> float:
    """The difference of two numbers; 0 if one of them isn't a number, as the mean of no rows."""
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        difference = abs(float(one) - float(other))
        return difference if math.isfinite(difference) else 0.0
    return 0.0
