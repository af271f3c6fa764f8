"""Execute and release as one picklable job: released tables out, or one failure without data."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dpsql.engine.engine import Engine
from dpsql.engine.source import DuckDBSource
from dpsql.errors import ExecutionFailed
from dpsql.plan.bounded import BoundedRelease
from dpsql.plan.query import EngineQuery
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.arrow import arrow_array
from dpsql.release.calibrate import Measurement
from dpsql.release.column import columns
from dpsql.release.noise import privatize


@dataclass(frozen=True, slots=True)
class Step:
    """One release: what the engine runs, and what is made of its integers."""

    bounded: BoundedRelease
    query: EngineQuery
    measurement: Measurement


@dataclass(frozen=True, slots=True)
class Job:
    """All releases of one statement over one version of the data."""

    source: DuckDBSource
    steps: tuple[Step, ...]


def run(job: Job, engine: Engine, randomness: Randomness) -> tuple[pa.Table, ...]:
    """The released tables of `job`, in order; any failure is `ExecutionFailed`, whatever failed.

    The charge for `job` has been made before; it stands in either case.
    """
    try:
        return tuple(_release(step, engine, randomness) for step in job.steps)
    except Exception:  # noqa: BLE001 - what failed, and how, would be data
        failed = True
    if failed:
        # Out here no exception chain leads back to what happened.
        raise ExecutionFailed
    raise AssertionError


def _release(step: Step, engine: Engine, randomness: Randomness) -> pa.Table:
    parameters = [randomness.bytes(16).hex()] if step.query.salted else []
    tables = {
        domain.name: pa.table(
            {
                "cell": pa.array(range(len(domain.cells)), pa.int64()),
                **{
                    f"k{n}": arrow_array([cell[n] for cell in domain.cells], kind)
                    for n, kind in enumerate(domain.types)
                },
            }
        )
        for domain in step.query.domains
    }
    raw = engine.execute(step.query.sql, parameters, tables)
    groups = privatize(raw.table, step.bounded, step.query, step.measurement, randomness)
    return columns(step.bounded, groups)
