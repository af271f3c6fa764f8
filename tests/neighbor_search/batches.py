"""What a release finds of its units part by part, beside what it finds of all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from neighbor_search.search import search
from notes.exact import exact_measurement
from physical.strategies import in_batches, is_batched
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import NO_TABLES, DatabaseBatch
from dpsql.audit.databases.synthetic_engine import WorldEngine
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import DuckDBSource
from dpsql.plan.bounded_release.engine_query import BATCH_TABLE
from dpsql.release.job import Job, Step, run
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace


class _Database(WorldEngine):
    """One synthetic database, which remembers nothing, and counts what it is asked of its units."""

    def __init__(self, worlds: DatabaseBatch, world: int) -> None:
        super().__init__(worlds, world)
        self.asked = 0

    def row_count_for_planning(self, table: str) -> int:
        del table
        return 100

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
    return is_batched(release) and not release.step.reads


def compare(release: CompiledRelease, schema: str, verified: frozenset[str]) -> None:
    """On several databases: the same answer, of so many times as many statements."""
    worlds = search(schema, verified, databases=4).worlds
    step, parted = (_shown(way) for way in (_at_once(release), in_batches(release, 3)))
    statements = bool(step.bounded.contributions.statistics) + len(step.query.histograms)
    for world in range(0, worlds.count, 1 + worlds.count // 3):
        whole, asked = _answer(step, worlds, world)
        assert asked == statements
        found, asked = _answer(parted, worlds, world)
        assert asked == statements * 3
        assert found.equals(whole), "other integers than of all units at once"


def _at_once(release: CompiledRelease) -> CompiledRelease:
    return replace(release, step=replace(release.step, batches=None))


def _shown(release: CompiledRelease) -> Step:
    """Groups that no list has come in any order: they are shown without noise, and all of them."""
    if release.step.bounded.partition_count_index is None:
        return release.step
    return replace(release.step, measurement=exact_measurement(release, threshold=1))


def _answer(step: Step, worlds: DatabaseBatch, world: int) -> tuple[pa.Table, int]:
    engine = _Database(worlds, world)
    found = run(Job(DuckDBSource(), (step,)), engine, SeededRandomness("parts"))
    return found[step.name], engine.asked
