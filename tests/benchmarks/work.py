"""What private answers take as counts, which are the same however busy a machine is.

    PYTHONPATH=.:tests python -m benchmarks.work FOLDER

FOLDER holds the Parquet files of TPC-H. Of each query it is how many rows the engine's operators
hand on, for a private answer and for a plain one: the work that grows with the data. Of a small
query it is how many of dpsql's own functions are called, for a new answer and for a stored one: the
work that doesn't. Prints JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final
from unittest import mock

import pyarrow as pa
from benchmarks.fixed import SQL, small_schema
from benchmarks.shapes import queries
from benchmarks.speed import schema_over
from engine.relay import Relay
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.audit.databases.database_batch import NO_TABLES
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.fingerprint import fingerprint
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import DuckDBSource
from dpsql.release.job import Job, run
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.compile import compile as first_stage
from dpsql.session.session import Session
from dpsql.session.sidecar import prepare_source, sidecar_of

ASKED: Final = (
    "flags",
    "segment",
    "month",
    "clerk",
    "part",
    "distinct",
    "median",
    "Q1",
    "Q6",
    "Q12",
)
SMALL: Final = {"small query, zcdp": "zcdp", "small query, approx": "approx"}
"""What it is called, and how its ledger adds up: approx has another noise."""

_INLINED: Final = {"<listcomp>", "<setcomp>", "<dictcomp>"}
_OWN: Final = str(Path(dpsql.__file__).parent)

Counts = Mapping[str, Mapping[str, int]]


def main() -> None:
    """Count, in a process of its own: what another test has in memory would be less work."""
    with TemporaryDirectory() as place:
        small = {name: calls(Path(place) / how, how) for name, how in SMALL.items()}
        found = {**small, **rows(Path(sys.argv[1]), Path(place) / "tpch")}
    sys.stdout.write(json.dumps(found) + "\n")


def rows(folder: Path, place: Path) -> Counts:
    """Rows that operators hand on, of each query: plain, as it is, and prepared."""
    place.mkdir()
    schema = schema_over(folder, place)
    found: dict[str, dict[str, int]] = {name: {} for name in ASKED}
    with _engine(schema) as engine:
        for name, counts in found.items():
            counts["plain"] = handed_on(engine, queries()[name])
            counts["as it is"] = _private(schema, engine, name)
        prepare_source(schema, engine, randomness=SeededRandomness("sidecar"))
    with _engine(schema) as engine:
        for name, counts in found.items():
            counts["prepared"] = _private(schema, engine, name)
    return found


def calls(folder: Path, accounting: str) -> Mapping[str, int]:
    """Calls of dpsql's functions, for a small query that is new and for one that is stored."""
    session = Session(small_schema(folder, accounting), epsilon="0.001")
    for number in range(3):
        session.query(SQL.format(number))
    found = {}
    # Calls are counted of one thread, and proofs are made on another.
    with mock.patch.object(first_stage, "with_deep_stack", lambda work: work()):
        for kind in ("new", "stored"):
            with _counted_calls() as counted:
                session.query(SQL.format(3))
            found[kind] = len(counted)
    session.close()
    return found


def handed_on(
    engine: DuckDBEngine,
    sql: str,
    parameters: Sequence[object] = (),
    tables: Mapping[str, pa.Table] = NO_TABLES,
) -> int:
    """Rows that the operators of one statement hand on together."""
    with engine._cursors.one() as cursor:
        for name, table in tables.items():
            cursor.register(name, table)
        explained = f"EXPLAIN (ANALYZE, FORMAT json) {sql}"
        ((_, profile),) = cursor.execute(explained, list(parameters) or None).fetchall()
    return sum(map(_rows_of, json.loads(profile)["operator"]))


def _rows_of(operator: Mapping[str, Any]) -> int:
    return int(operator["intermediate_rows"]) + sum(map(_rows_of, operator.get("children", ())))


def _private(schema: Schema, engine: DuckDBEngine, name: str) -> int:
    session = Session(schema, epsilon=1)
    steps = tuple(release.step for release in session.compile(queries()[name]).releases)
    session.close()
    counted = _Counted(engine)
    run(Job(engine_source(schema), steps), counted, SeededRandomness(name))
    return counted.rows


class _Counted(Relay):
    """An engine that counts what operators hand on, beside answering."""

    def __init__(self, engine: DuckDBEngine) -> None:
        super().__init__(engine)
        self._own = engine
        self.rows = 0

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        self.rows += handed_on(self._own, sql, parameters, tables)
        return super().execute(sql, parameters, tables, as_rows=as_rows, limit=limit)


@contextmanager
def _engine(schema: Schema) -> Iterator[DuckDBEngine]:
    source = engine_source(schema)
    assert isinstance(source, DuckDBSource)
    sidecar = sidecar_of(schema, lambda: fingerprint(source))
    with DuckDBEngine(source, threads=1, sidecar=sidecar) as engine:
        yield engine


@contextmanager
def _counted_calls() -> Iterator[list[None]]:
    """One entry for each call of a function of dpsql, and for each value of its generators.

    Comprehensions are none: later versions of Python inline them.
    """
    counted: list[None] = []

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_OWN) and code.co_name not in _INLINED:
            counted.append(None)

    sys.setprofile(count)
    try:
        yield counted
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    main()
