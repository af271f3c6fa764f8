"""What a release finds of its units part by part, beside what it finds of all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from neighbor_search.search import search
from notes.exact import exact_measurement
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import NO_TABLES, DatabaseBatch
from dpsql.audit.databases.synthetic_engine import WorldEngine
from dpsql.emit.release.release import emit_release
from dpsql.emit.strategy.unit_batches import can_be_batched
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import DuckDBSource
from dpsql.plan.bounded_release.engine_query import BATCH_TABLE
from dpsql.release.job import Job, Step, run
from dpsql.session.compile.compiled import CompiledRelease


class _Database(WorldEngine):
    """One synthetic database, which remembers nothing, and counts what it is asked of its units."""

    def __init__(self, worlds: DatabaseBatch, world: int) -> None:
        super().__init__(worlds, world)
        self.asked = 0

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        self._known.clear()
        self.asked += BATCH_TABLE not in tables
        return super().execute(sql, parameters, tables, as_rows=as_rows, limit=limit)


def may_be_compared(release: CompiledRelease) -> bool:
    """It goes in parts, and reads no other release."""
    return can_be_batched(release.step.bounded) and not release.step.reads


def compare(release: CompiledRelease, schema: str, verified: frozenset[str]) -> None:
    """On several databases: the same answer, of so many times as many statements."""
    step, worlds = _shown(release), search(schema, verified, databases=4).worlds
    statements = bool(step.bounded.contributions.statistics) + len(step.query.histograms)
    parted = replace(step, query=emit_release(step.bounded, {}, in_batches=True), batches=3)
    for world in range(0, worlds.count, 1 + worlds.count // 3):
        whole, asked = _answer(step, worlds, world)
        assert asked == statements
        found, asked = _answer(parted, worlds, world)
        assert asked == statements * 3
        assert found.equals(whole), "other integers than of all units at once"


def _shown(release: CompiledRelease) -> Step:
    """Groups that no list has come in any order: they are shown without noise, and all of them."""
    if release.step.bounded.partition_count_index is None:
        return release.step
    return replace(release.step, measurement=exact_measurement(release, threshold=1))


def _answer(step: Step, worlds: DatabaseBatch, world: int) -> tuple[pa.Table, int]:
    engine = _Database(worlds, world)
    found = run(Job(DuckDBSource(), (step,)), engine, SeededRandomness("parts"))
    return found[step.name], engine.asked
