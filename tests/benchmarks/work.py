"""What private answers take as counts, which are the same however busy a machine is.

    PYTHONPATH=.:tests python -m benchmarks.work FOLDER

FOLDER holds the Parquet files of TPC-H. Of each query it is how many rows the engine's operators
hand on, and how many bytes, which wider rows and more columns have more of, for a private answer
and for a plain one: the work that grows with the data. Of some it is how many calls compile them,
and how long the SQL is that DuckDB has to plan. Of a small
query it is how many functions of dpsql and of its parser are called, how many statements DuckDB and
the ledger's database are sent, and how often the disk is waited for, each for a new answer and for
a stored one: the work that doesn't. Prints JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final, NamedTuple
from unittest import mock

import pyarrow as pa
import sqlglot
from benchmarks.fixed import SQL, small_schema
from benchmarks.shapes import queries
from benchmarks.speed import schema_over
from engine.relay import Relay
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.audit.databases.database_batch import NO_TABLES
from dpsql.engine.duckdb import statement
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
QUERIES: Final = tuple(count for name in ASKED for count in (name, f"{name}, kB"))
"""What is counted of each: rows, and kB."""

COMPILED: Final = ("flags", "month", "median")
TEXTS: Final = tuple(f"{name}, {what}" for name in COMPILED for what in ("calls", "characters"))
"""What is counted of some: calls to compile it, and characters of SQL that DuckDB has to plan."""

ACCOUNTING: Final = ("zcdp", "approx")
"""How a small query's ledger adds up: approx has another noise."""

CALLS, ENGINE, LEDGER, WAITS = "calls", "statements of DuckDB", "statements of the ledger", "fsync"
SMALL: Final = (
    *(f"small query, zcdp: {what}" for what in (CALLS, ENGINE, LEDGER, WAITS)),
    f"small query, approx: {CALLS}",
)
"""What is counted of it; the rest is the same for both."""

_STATEMENT, _SELECTS = str(Path(str(statement.__file__))), {"select"}
"""Where all statements of an engine run."""

_LEDGER: Final = "Connection.execute"  # of sqlite3; DuckDB's calls aren't seen

_INLINED: Final = {"<listcomp>", "<setcomp>", "<dictcomp>"}
_COUNTED: Final = tuple(str(Path(str(module.__file__)).parent) for module in (dpsql, sqlglot))
"""What another statement to parse is for dpsql alone is a handful of calls; it is sqlglot's."""

Counts = Mapping[str, Mapping[str, int]]


class HandedOn(NamedTuple):
    """Rows, and their bytes."""

    rows: int
    size: int


def main() -> None:
    """Count, in a process of its own: what another test has in memory would be less work."""
    with TemporaryDirectory() as place:
        small = {
            f"small query, {how}: {what}": counts
            for how in ACCOUNTING
            for what, counts in calls(Path(place) / how, how).items()
            if f"small query, {how}: {what}" in SMALL
        }
        found = {**small, **handed_on_by(Path(sys.argv[1]), Path(place) / "tpch")}
    sys.stdout.write(json.dumps(found) + "\n")


def handed_on_by(folder: Path, place: Path) -> Counts:
    """Rows and kB that operators hand on, of each query: plain, as it is, and prepared."""
    place.mkdir()
    schema = schema_over(folder, place)
    found: dict[str, dict[str, int]] = {name: {} for name in (*QUERIES, *TEXTS)}

    def add(mode: str, name: str, counted: HandedOn) -> None:
        found[name][mode] = counted.rows
        found[f"{name}, kB"][mode] = round(counted.size / 1000)

    def add_private(mode: str, name: str) -> None:
        counted = _private(schema, engine, name)
        add(mode, name, _sum(counted.statements))
        if name in COMPILED:
            found[f"{name}, calls"][mode] = counted.calls
            found[f"{name}, characters"][mode] = counted.characters

    with _engine(schema) as engine:
        for name in ASKED:
            add("plain", name, handed_on(engine, queries()[name]))
            add_private("as it is", name)
        prepare_source(schema, engine, randomness=SeededRandomness("sidecar"))
    with _engine(schema) as engine:
        for name in ASKED:
            add_private("prepared", name)
    return found


def calls(folder: Path, accounting: str) -> Counts:
    """What a small query asks of others, and calls, where it is new and where it is stored."""
    session = Session(small_schema(folder, accounting), epsilon="0.001")
    for number in range(3):
        session.query(SQL.format(number))
    found: dict[str, dict[str, int]] = {what: {} for what in (CALLS, ENGINE, LEDGER, WAITS)}
    with _in_one_thread():
        for kind in ("new", "stored"):
            with _counted_calls() as counted:
                session.query(SQL.format(3))
            for what, counts in found.items():
                counts[kind] = counted[what]
    session.close()
    return found


def handed_on(
    engine: DuckDBEngine,
    sql: str,
    parameters: Sequence[object] = (),
    tables: Mapping[str, pa.Table] = NO_TABLES,
) -> HandedOn:
    """What the operators of one statement hand on together."""
    with engine._cursors.one() as cursor:
        for name, table in tables.items():
            cursor.register(name, table)
        explained = f"EXPLAIN (ANALYZE, FORMAT json) {sql}"
        ((_, profile),) = cursor.execute(explained, list(parameters) or None).fetchall()
    return _sum(map(_handed_on, json.loads(profile)["operator"]))


def _handed_on(operator: Mapping[str, Any]) -> HandedOn:
    own = HandedOn(int(operator["intermediate_rows"]), int(operator["intermediate_size_bytes"]))
    return _sum([own, *map(_handed_on, operator.get("children", ()))])


def _sum(parts: Iterable[HandedOn]) -> HandedOn:
    return HandedOn(*map(sum, zip(*parts, strict=True)))


def _private(schema: Schema, engine: DuckDBEngine, name: str) -> _Counted:
    """What a query is compiled to, run."""
    session, found = Session(schema, epsilon=1), _Counted(engine)
    session.compile("SELECT count(*) FROM customer")  # opens what a session opens once
    with _in_one_thread(), _counted_calls() as counted:
        compiled = session.compile(queries()[name])
    session.close()
    steps = tuple(release.step for release in compiled.releases)
    run(Job(engine_source(schema), steps), found, SeededRandomness(name))
    found.calls = counted[CALLS]
    return found


class _Counted(Relay):
    """An engine that counts what operators hand on, beside answering."""

    def __init__(self, engine: DuckDBEngine) -> None:
        super().__init__(engine)
        self._own = engine
        self.statements: list[HandedOn] = []
        self.characters = 0
        self.calls = 0

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        self.statements.append(handed_on(self._own, sql, parameters, tables))
        self.characters += len(sql)
        return super().execute(sql, parameters, tables, as_rows=as_rows, limit=limit)


@contextmanager
def _engine(schema: Schema) -> Iterator[DuckDBEngine]:
    source = engine_source(schema)
    assert isinstance(source, DuckDBSource)
    sidecar = sidecar_of(schema, lambda: fingerprint(source))
    with DuckDBEngine(source, threads=1, sidecar=sidecar) as engine:
        yield engine


def _in_one_thread() -> AbstractContextManager[object]:
    """Calls are counted of one thread, and proofs are made on another."""
    return mock.patch.object(first_stage, "with_deep_stack", lambda work: work())


@contextmanager
def _counted_calls() -> Iterator[Counter[str]]:
    """Calls of functions of dpsql and sqlglot, and values of their generators; what others do.

    Comprehensions are none: later versions of Python inline them.
    """
    counted: Counter[str] = Counter()
    fsync = os.fsync

    def count(frame: FrameType, event: str, called: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_COUNTED):
            counted[CALLS] += code.co_name not in _INLINED
            counted[ENGINE] += code.co_filename == _STATEMENT and code.co_name in _SELECTS
        elif event == "c_call":
            counted[LEDGER] += getattr(called, "__qualname__", "") == _LEDGER

    def waited(descriptor: int) -> None:
        counted[WAITS] += 1
        fsync(descriptor)

    with mock.patch.object(os, "fsync", waited):
        sys.setprofile(count)
        try:
            yield counted
        finally:
            sys.setprofile(None)


if __name__ == "__main__":
    main()
