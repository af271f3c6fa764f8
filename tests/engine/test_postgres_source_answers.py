"""The integers before noise are those that DuckDB finds in the same rows, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from differential.classes import LISTS_INDIVIDUALS
from differential.statement import tpch
from engine.noted_rows import lines, noted, rows_of, server_tables, statements
from engine.postgres_world import Database, database, load
from neighbor_search.share import in_turn
from notes.blocks import Claim
from notes.compiler import schema_of
from notes.exact import exact_measurement
from privacy.seeded import SeededRandomness

from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.verify import verify_keys
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source
from dpsql.structs import replace

SHARE = 40
"""One in so many of the notes' queries is asked in every run."""


def of_schema(name: str) -> list[Claim]:
    return [claim for claim in noted() if claim.schema == name]


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        yield created


@pytest.mark.parametrize(
    ("turn", "name"),
    [
        case
        for name in sorted({claim.schema for claim in noted()})
        for turns in [min(SHARE, len(of_schema(name)))]
        for case in in_turn(((f"{turn}-{name}", (turn, name)) for turn in range(turns)), turns)
    ],
)
def test_notes_have_the_same_integers(turn: int, name: str, world: Database) -> None:
    schema = schema_of(name)
    spaces = {space for table in schema.tables for space in table.split(".")[:-1]} | {"public"}
    for space in spaces:
        world.run(f"DROP SCHEMA IF EXISTS {space} CASCADE", f"CREATE SCHEMA {space}")
    load(world, schema, rows_of(name), {})
    with PostgresEngine(world.source(*server_tables(schema)), threads=1) as engine:
        for claim in of_schema(name)[turn::SHARE]:
            for sql, parameters, tables, integers in statements(claim):
                # Each alone: what an earlier one has pulled would hide what is lacking.
                assert lines(engine.execute(sql, parameters, tables).table) == integers, claim.name


@dataclass(frozen=True)
class Tpch:
    """Sessions over the same rows in Parquet files and on a server, both with keys that hold."""

    files: Session
    server: Session


@pytest.fixture(scope="module")
def benchmark(
    tpch_folder: Path, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tpch]:
    folder = tmp_path_factory.mktemp("tpch")
    text = (fixtures / "tpch" / "schema.yaml").read_text(encoding="utf-8")
    rows = duckdb.connect()
    schema = load_schema(fixtures / "tpch" / "schema.yaml")
    for name in schema.tables:
        rows.read_parquet(str(tpch_folder / f"{name}.parquet")).create_view(name)
    with database() as world:
        keys = {name: table.key for name, table in schema.tables.items() if table.key is not None}
        load(world, schema, rows, keys)
        paths = folder / "files.yaml", folder / "server.yaml"
        # A server that computes chooses other groups where a limit binds, by the same law.
        pulled = f"source: {world.url}\nversion: 1\npush_down: never"
        paths[0].write_text(text.replace("source: data", f"source: {tpch_folder}"))
        paths[1].write_text(
            text.replace("source: data", pulled).replace(
                "dataset: tpch", "dataset: tpch_on_a_server"
            )
        )
        sessions = [Session(load_schema(path)) for path in paths]
        with open_source(sessions[0].schema) as engine:
            assert all(verify_keys(sessions[0].schema, engine).values())
        yield Tpch(*sessions)
        for session in sessions:
            session.close()


def exact(ready: CompiledStatement, session: Session) -> dict[str, pa.Table]:
    """What its releases have without noise; groups are drawn by one salt."""
    steps = tuple(
        replace(release.step, measurement=exact_measurement(release, threshold=1))
        for release in ready.releases
    )
    job = Job(engine_source(session.schema), steps)
    return run(job, session._context.execution.source(), SeededRandomness("salt"))


NUMBERS = [n for n in tpch() if n not in LISTS_INDIVIDUALS]


@pytest.mark.parametrize("number", in_turn(((f"Q{n}", (n,)) for n in NUMBERS), share=3))
def test_tpch_has_the_same_integers(number: int, benchmark: Tpch) -> None:
    sql = tpch()[number].sql
    by_file, by_server = benchmark.files, benchmark.server
    plain, pulled = by_file.compile(sql), by_server.compile(sql)
    # The server's constraints prove what the rows of the files do, and public rows are the same.
    assert [r.step.query for r in pulled.releases] == [r.step.query for r in plain.releases]
    assert [r.sensitivity for r in pulled.releases] == [r.sensitivity for r in plain.releases]
    if not plain.releases:
        one, other = (
            s._context.execution.public(r, {}) for s, r in ((by_file, plain), (by_server, pulled))
        )
        assert one.equals(other)
    assert exact(plain, by_file) == exact(pulled, by_server)
