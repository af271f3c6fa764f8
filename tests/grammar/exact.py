"""The mechanism that adds nothing: it lives in the tests, the package has no noiseless mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import pyarrow as pa
from grammar.observe import domain_tables
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.column import columns
from dpsql.release.noise import privatize
from dpsql.session.prepared import PreparedRelease


@dataclass(frozen=True)
class Exact:
    """Answers what is."""

    name: str = "exact"
    variance: float = 0.0

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        del randomness
        return list(values)


def exact_table(
    connection: duckdb.DuckDBPyConnection,
    release: PreparedRelease,
    released: Mapping[str, pa.Table],
    *,
    salt: str = "1",
) -> pa.Table:
    """What `release` would answer without noise and without a threshold."""
    step = release.step
    count = len(step.bounded.terms.statistics)
    measurement = replace(step.measurement, mechanisms=(Exact(),) * count, threshold=1)
    raw = pa.table({})
    if count:
        tables = domain_tables(step.query) | {name: released[name] for name in step.reads}
        for name, table in tables.items():
            connection.register(name, table)
        salts = [salt] if step.query.salted else None
        raw = connection.sql(step.query.sql, params=salts).to_arrow_table()
    groups = privatize(raw, step.bounded, step.query, measurement, SeededRandomness("exact"))
    return columns(step.bounded, groups)
