"""How much neighbouring databases really differ, beside what was derived.

An enumeration proves nothing about databases that it doesn't hold, but one that passes a bound
disproves it, and one that meets it shows that the bound is tight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain

import duckdb
import pyarrow as pa

from dpsql.analysis.sensitivity import Sensitivity, rows_per_group, sensitivity
from dpsql.audit.databases.candidate_units import in_words
from dpsql.audit.databases.database_batch import Groups, Histogram, StatementFails
from dpsql.audit.databases.search_space import SearchSpace, Size, compiled, search_space
from dpsql.audit.databases.synthetic_engine import WorldEngine
from dpsql.audit.sensitivity.bound_check import (
    cell_changes,
    cell_violations,
    changes,
    rows_moved,
    violations,
)
from dpsql.engine.source import DuckDBSource
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, run
from dpsql.schema.model import Neighbors, Schema
from dpsql.session.compile.compiled import CompiledRelease, CompiledStatement
from dpsql.session.explain.sensitivity_text import format_cell_choice, format_statistic

SALTS = ("1", "2")


@dataclass(frozen=True, slots=True)
class Witness:
    """Two neighbouring databases: what each unit of either brings, one row a line."""

    one: tuple[tuple[str, ...], ...]
    other: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One number, in its own unit: what was derived (None: nothing is claimed), what was seen."""

    description: str
    derived: Fraction | None
    observed: Fraction
    witness: Witness | None

    @property
    def tightness(self) -> float | None:
        """Observed over derived: 1 is a bound that is met, more than 1 one that is broken."""
        return None if not self.derived else float(self.observed / self.derived)


@dataclass(frozen=True, slots=True)
class SensitivityAudit:
    """What an enumeration found of a statement; `violations` name every bound that was passed."""

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
    """Try `sql` on all pairs of small neighbouring databases.

    Every release is held to its bound for fixed values of those that it reads. `neighbors` may be
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
        found = search_space(release.release, schema, relation, size)
        databases, pairs = databases + found.worlds.count, pairs + len(found.pairs)
        derived = sensitivity(release.step.bounded, relation.distance(size.distance))
        try:
            seen, passed = _release(release, derived, found, tables)
        except StatementFails as failure:
            # What would be answered on other databases bounds nothing.
            units = found.units(failure.world)
            told = "; ".join(line for unit in units for line in in_words(unit, schema))
            broken.append(f"it fails where there are {told or 'no rows'}")
            break
        findings += seen
        broken += passed
        if len(ready.releases) == 1 and not release.step.bounded.contributions.keys:
            with suppress(StatementFails):  # as written, it may fail: there is nothing to compare
                plain += _plain(ready, sql, found)
        job = Job(DuckDBSource(), (release.step,))
        tables |= run(job, WorldEngine(found.worlds, 0), SystemRandomness(), tables)
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
    """The findings of one release over all pairs and two salts, and the bounds that are passed."""
    bounded = release.step.bounded
    statistics, selections = bounded.contributions.statistics, bounded.contributions.cell_choices
    seen = _Largest(space, len(statistics) + len(selections) + 1)
    broken: list[str] = []
    for salt in SALTS:
        totals = space.worlds.totals(release, salt, tables)
        cells = space.worlds.histograms(release, salt)
        for one, other in space.pairs:
            own = release, derived
            broken += violations(totals[one], totals[other], *own)
            broken += cell_violations(cells[one], cells[other], *own)
            seen.note((one, other), _numbers(totals, cells, one, other, len(statistics)))
    units, per_cell = derived.units, rows_per_group(bounded.limited) * derived.units
    bounds = [
        (format_statistic(s), m * s.step)
        for s, m in zip(statistics, derived.per_group, strict=True)
    ]
    bounds += [(format_cell_choice(s, bounded), Fraction(per_cell)) for s in selections]
    bounds += [("groups", Fraction(derived.groups * units))]
    scales = [*(s.step for s in statistics), *(Fraction(1) for _ in selections), Fraction(1)]
    findings = [
        Finding(about, most, Fraction(number) * scale, seen.witness(place))
        for place, ((about, most), number, scale) in enumerate(
            zip(bounds, seen.largest, scales, strict=True)
        )
    ]
    return findings, broken


def _numbers(
    totals: Sequence[Groups], cells: Sequence[list[Histogram]], one: int, other: int, count: int
) -> list[int]:
    """The change of each statistic, the rows that moved in each selection, the groups."""
    changed = changes(totals[one], totals[other], count)
    in_cells = [cell_changes(a, b) for a, b in zip(cells[one], cells[other], strict=True)]
    return [
        *(max((change[place] for change in changed), default=0) for place in range(count)),
        *(max(map(rows_moved, found), default=0) for found in in_cells),
        max(len(changed), *map(len, in_cells), 0) if in_cells else len(changed),
    ]


class _Largest:
    """The largest of some numbers, and where they were seen."""

    def __init__(self, space: SearchSpace, count: int) -> None:
        self._space = space
        self.largest: list[float] = [0] * count
        self._where: list[tuple[int, int] | None] = [None] * count

    def note(self, pair: tuple[int, int], numbers: Sequence[float]) -> None:
        for place, number in enumerate(numbers):
            if number > self.largest[place]:
                self.largest[place], self._where[place] = number, pair

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
    """What plain DuckDB's own answer changes by: nothing is derived for it."""
    try:
        answers = space.worlds.run(sql)
    except duckdb.Error:
        return []  # a function of ours, or a text that DuckDB reads otherwise
    largest = _Largest(space, len(schema.statement.names))
    for one, other in space.pairs:
        rows = (chain(*answers[world]) for world in (one, other))
        largest.note((one, other), [_differ(a, b) for a, b in zip(*rows, strict=True)])
    return [
        Finding(f"{name}, without bounds or noise", None, Fraction(most), largest.witness(place))
        for place, (name, most) in enumerate(
            zip(schema.statement.names, largest.largest, strict=True)
        )
    ]


def _differ(one: object, other: object) -> float:
    """How far two numbers are apart; 0 if one of them isn't one, as the mean of no rows."""
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        apart = abs(float(one) - float(other))
        return apart if math.isfinite(apart) else 0.0
    return 0.0
