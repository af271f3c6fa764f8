"""Execute and release as one picklable job: released tables out, or one failure without data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

import pyarrow as pa
from msgspec import Struct

from dpsql.engine.engine import (
    CachedTable,
    CachesTables,
    Engine,
    LooksForRows,
    ServerRows,
    Snapshot,
)
from dpsql.engine.fingerprint import Identity
from dpsql.engine.raw import Rows, as_table
from dpsql.engine.read_limit import LARGEST_ANSWER, AnswerLimit
from dpsql.engine.source import Source
from dpsql.errors import ExecutionCancelled, ExecutionFailed, ExecutionStopped, SourceFault
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import (
    BATCH_TABLE,
    CACHED_TABLE,
    CachedSums,
    EngineQuery,
    Histogram,
    UnitBatches,
    UnlimitedQuery,
    WithoutSidecar,
)
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority
from dpsql.release.add_noise import RawGroups, add_noise
from dpsql.release.alert import alert_table
from dpsql.release.batch_count import batch_count, unit_hashes
from dpsql.release.calibration import Measurement
from dpsql.release.columns.group_keys import domain_table, number_of_cells
from dpsql.release.columns.released_table import columns
from dpsql.release.dashboard.dashboard_table import dashboard_table
from dpsql.release.decision import decision_table
from dpsql.release.server_rows import computed_rows, computing
from dpsql.release.synopsis.calibrate_synopsis import is_factored
from dpsql.release.synopsis.synopsis_table import synopsis_table
from dpsql.structs import not_shown

_MAX_BATCHED_GROUPS = 4_000_000
"""Groups of parts that wait to be summed."""

_MAX_GROUPS_BY_ROW = 1_000
"""Groups that are read row by row; more come sooner as whole columns."""

NO_ROWS = pa.table({})
NOTHING = RawGroups(NO_ROWS)
NO_TABLES: Mapping[str, pa.Table] = MappingProxyType({})


class Step(Struct, frozen=True):
    """One release: what the engine runs, and what is made of its integers.

    `reads` names the releases before it that its SQL reads as tables. `batches` give the same
    integers batch by batch of the units, None if they can't. `without_sidecar` is what is run where
    tables of a sidecar that `query` reads aren't there; None if it reads none. `pushed` is what the
    source's server computes instead, where it does; None: rows are read. `files` are the only ones
    that it may be run over, by whose keys limits were left out; None where the engine looks itself.
    `cached_sums` give the same integers from what an engine may keep; None if that isn't worth it.
    `unlimited` gives them of data in which no limit can bind any unit; None if that takes no less.
    """

    name: str
    bounded: BoundedRelease
    query: EngineQuery
    measurement: Measurement
    reads: tuple[str, ...] = ()
    batches: UnitBatches | None = None
    without_sidecar: WithoutSidecar | None = None
    pushed: ServerQuery | None = None
    files: Identity | None = None
    cached_sums: CachedSums | None = None
    unlimited: UnlimitedQuery | None = None

    @property
    def is_factored(self) -> bool:
        """Whether its table has margins in place of the combinations of listed keys."""
        is_synopsis = isinstance(self.measurement.table_mechanism, MwemParameters)
        return is_synopsis and is_factored(self.bounded)

    @property
    def lists_cells(self) -> bool:
        """Whether its table has a row for each combination of listed keys, whatever rows have."""
        return self.bounded.shows_all_cells and not self.is_factored


@not_shown("cache_salt")
class Job(Struct, frozen=True):
    """All releases of one statement over one version of the data, none larger than `largest`.

    `cache_salt` is the secret salt of all steps that have sums which an engine may keep; None: each
    has a fresh one, and nothing is kept.
    """

    source: Source
    steps: tuple[Step, ...]
    largest: AnswerLimit = LARGEST_ANSWER
    cache_salt: str | None = None


def run(
    job: Job, engine: Engine, randomness: Randomness, released: Mapping[str, pa.Table] = NO_TABLES
) -> dict[str, pa.Table]:
    """The released tables of `job` by name; any failure is `ExecutionFailed`, whatever failed.

    Of its kinds two are told apart, neither of which is a fact of the rows: it was cancelled, or it
    was stopped for want of memory or of the source. A released table that is too large is
    `TooComplex`: its size is a fact of what is released.

    The charge for `job` has been made before; it stands in either case. `released` are tables of
    earlier answers that the job's steps read.
    """
    try:
        tables = dict(released)
        with engine.snapshot() as rows:
            for step in job.steps:
                tables[step.name] = _release(step, engine, rows, randomness, tables, job.cache_salt)
        drawn = {step.name: tables[step.name] for step in job.steps}
    except ExecutionCancelled:
        failed: ExecutionFailed = ExecutionCancelled()
    except (ExecutionStopped, SourceFault, MemoryError):
        failed = ExecutionStopped()
    except Exception:  # noqa: BLE001 - what failed, and how, would be data
        failed = ExecutionFailed()
    else:
        for table in drawn.values():
            job.largest.check(table)
        return drawn
    # Out here no exception chain leads back to what happened.
    raise failed


def _release(
    step: Step,
    engine: Engine,
    rows: Snapshot,
    randomness: Randomness,
    released: Mapping[str, pa.Table],
    cache_salt: str | None,
) -> pa.Table:
    terms = step.bounded.contributions
    if not terms.statistics and not terms.cell_choices:
        # Only listed keys are asked for: no private row is read for them.
        nothing = add_noise(NOTHING, step.bounded, step.query, step.measurement, randomness)
        return columns(step.bounded, nothing, step.measurement)
    # One salt for all: each unit's groups are the same in the sums and in the cells' counts.
    salt = randomness.bytes(16).hex()
    cache = None
    if cache_salt is not None and step.cached_sums is not None and isinstance(engine, CachesTables):
        # Whether anything is kept then is a matter of rows: the salt is not.
        cache, salt = engine, cache_salt
    there = computing(step.pushed, rows)
    if there is not None:
        raw = _computed(*there, salt, has_totals=bool(terms.statistics))
    else:
        raw = _raw(step, engine, rows, salt, released, cache)
    match step.measurement.table_mechanism:
        case MwemParameters() as weighing:
            return synopsis_table(raw, step.bounded, step.query, weighing, randomness)
        case MarginalNoise() as noise:
            return dashboard_table(raw, step.bounded, step.query, noise, randomness)
        case WeightedMajority() as majority:
            return decision_table(raw, step.bounded, step.query, majority, randomness)
        case (AboveThreshold() | ThresholdStream()) as above:
            return alert_table(raw, step.bounded, step.query, above, randomness)
        case None:
            groups = add_noise(raw, step.bounded, step.query, step.measurement, randomness)
            return columns(step.bounded, groups, step.measurement)
        case missing:
            assert_never(missing)


def _computed(query: ServerQuery, server: ServerRows, salt: str, *, has_totals: bool) -> RawGroups:
    """The integers as the server computes them."""
    totals, *counts = (
        computed_rows(query, server, salt, number=number) if number or has_totals else NO_ROWS
        for number in range(len(query.statements))
    )
    return RawGroups(totals, tuple(counts))


def _raw(
    step: Step,
    engine: Engine,
    rows: Snapshot,
    salt: str,
    released: Mapping[str, pa.Table],
    cache: CachesTables | None,
) -> RawGroups:
    """The integers as the engine finds them, by the plan that its tables allow.

    `cache` is the engine, if it may keep units' sums.
    """
    query, batches, cached = _query_to_run(step, engine)
    tables = {domain.name: domain_table(domain) for domain in step.query.domains}
    tables |= {name: released[name] for name in step.reads}
    totals: Rows = NO_ROWS
    if step.bounded.contributions.statistics:
        # All cells are listed: which rows the data have makes no difference to how they come.
        few = (
            step.bounded.partition_count_index is None
            and number_of_cells(step.query) <= _MAX_GROUPS_BY_ROW
        )
        from_cache = None
        if cache is not None and cached is not None:
            from_cache = _cached_totals(cached, cache, engine, salt, tables)
        if from_cache is None:
            totals = _integer_rows(query, batches, rows, salt, tables, as_rows=few)
        else:
            totals = from_cache
    counted = (_integer_rows(one, batches, rows, salt, tables) for one in query.histograms)
    return RawGroups(totals, tuple(map(as_table, counted)))


def _cached_totals(
    cached: CachedSums,
    cache: CachesTables,
    engine: Engine,
    salt: str,
    tables: Mapping[str, pa.Table],
) -> pa.Table | None:
    """The integers, of sums that `engine`, the `cache`, has or finds now; None if it keeps none.

    `tables` are those that the sums are found of, beside the source's.
    """
    batches = batch_count(cached.policy, engine)
    table = CachedTable(
        cached.name,
        CACHED_TABLE,
        cached.sums,
        tuple((salt, *unit_hashes(batch, batches)) for batch in range(batches)),
        max(map(engine.row_count_for_planning, cached.policy.tables)),
    )
    with cache.caching(table, tables) as is_there:
        return engine.execute(cached.totals, [salt] * cached.salted).table if is_there else None


def _query_to_run(step: Step, engine: Engine) -> tuple[EngineQuery, int, CachedSums | None]:
    """The statement that gives the integers of `step` on `engine`, and in how many batches.

    Beside it stand the sums that it may find kept.
    """
    query, batches, cached = step.query, step.batches, step.cached_sums
    fallback = step.without_sidecar
    if fallback is not None and not fallback.tables <= engine.sidecar_tables:
        query, batches, cached = fallback.query, fallback.batches, None
    elif (
        step.unlimited is not None
        and isinstance(engine, LooksForRows)
        and not engine.has_rows_for_planning(step.unlimited.limited_rows)
    ):
        query = step.unlimited.query
    count = 1 if batches is None else batch_count(batches.policy, engine)
    return (query if batches is None or count == 1 else batches.query), count, cached


def _integer_rows(
    query: EngineQuery | Histogram,
    batches: int,
    engine: Snapshot,
    salt: str,
    tables: Mapping[str, pa.Table],
    *,
    as_rows: bool = False,
) -> Rows:
    """The integers of all units, at once or batch by batch."""
    if query.summed is None:
        sql: str = query.sql
        parameters: list[object] = [salt] * query.salted
        if isinstance(query, EngineQuery) and query.parameterized is not None:
            sql = query.parameterized.sql
            parameters += query.parameterized.values
        return engine.execute(sql, parameters, tables, as_rows=as_rows).rows
    parts: list[pa.Table] = []
    for batch in range(batches):
        ends = unit_hashes(batch, batches)
        parts.append(engine.execute(query.sql, [salt, *ends], tables).table)
        if batch == batches - 1 or sum(part.num_rows for part in parts) > _MAX_BATCHED_GROUPS:
            rows = pa.concat_tables(parts)
            # A sum of sums of 64 bits is of 128; all units' would be of the same 64.
            summed = engine.execute(query.summed, (), {BATCH_TABLE: rows}).table
            parts = [summed.cast(rows.schema)]
    return parts[0]
