"""What a server computes through a session: DuckDB's integers, at the same price and key."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from differential.classes import LISTS_INDIVIDUALS
from differential.statement import tpch
from differential.world import BENCHMARK_ROOMY
from engine.postgres_world import database, load
from neighbor_search.share import in_turn
from notes.exact import exact_measurement
from privacy.seeded import SeededRandomness

from dpsql.engine.postgres.connection import transaction
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.source import PostgresSource
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Limits, Schema
from dpsql.schema.verify import verify_keys
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.preparing.server_tables import prepare_server
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, sidecar_path
from dpsql.structs import replace


@dataclass(frozen=True)
class Tpch:
    """Sessions over the same rows: in files, pulled from a server, and computed there.

    `owner` names who may write there.
    """

    files: Session
    pulled: Session
    pushed: Session
    owner: str


def with_limits(schema: Schema, limits: Limits) -> Schema:
    tables = {name: replace(table, limits=limits) for name, table in schema.tables.items()}
    return replace(schema, tables=tables)


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
        sources = [str(tpch_folder)]
        sources += [f"{world.url}\nversion: 1\npush_down: {how}" for how in ("never", "always")]
        sessions = []
        for number, source in enumerate(sources):
            path = folder / f"{number}.yaml"
            own = text.replace("dataset: tpch", f"dataset: tpch_{min(number, 1)}")
            path.write_text(own.replace("source: data", f"source: {source}"))
            sessions.append(Session(with_limits(load_schema(path), BENCHMARK_ROOMY)))
        with open_source(sessions[0].schema) as engine:
            assert all(verify_keys(sessions[0].schema, engine).values())
        owner = os.environ["DPSQL_POSTGRES"].replace("/postgres?", f"/{world.owner.info.dbname}?")
        files, pulled, pushed = sessions
        yield Tpch(files, pulled, pushed, owner)
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

PULLED = frozenset({17, 22})
"""The queries one of whose releases reads what another released: that isn't on the server."""


@pytest.mark.parametrize("number", in_turn(((f"Q{n}", (n,)) for n in NUMBERS), share=6))
def test_tpch_has_the_same_integers_in_all_ways(
    number: int, benchmark: Tpch, computed: list[str]
) -> None:
    sql = tpch()[number].sql
    plain, pulled, pushed = (
        session.compile(sql) for session in (benchmark.files, benchmark.pulled, benchmark.pushed)
    )
    # Who asked before the way was changed isn't charged again.
    assert [r.key for r in pulled.releases] == [r.key for r in pushed.releases]
    assert pulled.loss == pushed.loss
    assert all(r.step.pushed is None for r in (*plain.releases, *pulled.releases))
    expected = exact(plain, benchmark.files)
    assert exact(pulled, benchmark.pulled) == expected
    assert not computed
    assert exact(pushed, benchmark.pushed) == expected
    there = [r.step.pushed is not None for r in pushed.releases]
    assert all(there) or number in PULLED
    assert len(computed) >= sum(there)


NARROW = Limits(groups=3, rows_per_group=2, rows=6)


OVER_LINES = frozenset({1, 6, 14, 15, 17, 19, 20})
"""The queries that are computed over prepared lines: others have orders beside them."""


@pytest.fixture(scope="module")
def ready(benchmark: Tpch) -> Iterator[Schema]:
    """The schema of what the server computes, whose lines stand ready with their unit there."""
    schema = benchmark.pushed.schema
    source = engine_source(schema)
    assert isinstance(source, PostgresSource)
    with PostgresEngine(source) as engine:
        assert prepare_server(schema, engine, benchmark.owner) == {"lineitem"}
    yield schema
    sidecar_path(schema).unlink()


@pytest.mark.parametrize("limits", [BENCHMARK_ROOMY, NARROW], ids=["roomy", "narrow"])
@pytest.mark.parametrize("number", in_turn(((f"Q{n}", (n,)) for n in NUMBERS), share=20))
def test_tpch_has_the_same_integers_over_prepared_lines(
    number: int, limits: Limits, ready: Schema
) -> None:
    sql, schema = tpch()[number].sql, with_limits(ready, limits)
    session = Session(schema)
    over_lines = session.compile(sql)
    noted = sidecar_path(schema).rename(sidecar_path(schema).with_suffix(".away"))
    try:
        plain_session = Session(schema)
        plain = plain_session.compile(sql)
    finally:
        noted.rename(sidecar_path(schema))
    there = [r.step.pushed for r in over_lines.releases if r.step.pushed is not None]
    assert any(query.sidecar is not None for query in there) == (number in OVER_LINES)
    assert [r.key for r in over_lines.releases] == [r.key for r in plain.releases]
    assert exact(over_lines, session) == exact(plain, plain_session)
    session.close()
    plain_session.close()


COUNTED = {
    "SELECT o_clerk, count(DISTINCT o_custkey) AS n FROM orders GROUP BY o_clerk": (
        "SELECT sum(least(n, 3)) FROM (SELECT count(DISTINCT o_clerk) AS n FROM orders"
        " GROUP BY o_custkey) AS units"
    ),
    "SELECT o_orderpriority, count(DISTINCT o_custkey) AS n FROM orders GROUP BY 1": (
        "SELECT sum(least(n, 3)) FROM (SELECT count(DISTINCT o_orderpriority) AS n FROM orders"
        " GROUP BY o_custkey) AS units"
    ),
    "SELECT o_orderstatus, count(*) AS n FROM orders GROUP BY 1": (
        "SELECT sum(least(n, 2)) FROM (SELECT count(*) AS n FROM orders"
        " GROUP BY o_custkey, o_orderstatus) AS groups"
    ),
    "SELECT l_linestatus, count(*) AS n FROM lineitem GROUP BY 1": (
        "SELECT sum(least(n, 2)) FROM (SELECT count(*) AS n FROM lineitem JOIN orders"
        " ON l_orderkey = o_orderkey GROUP BY o_custkey, l_linestatus) AS groups"
    ),
}
"""Statements, and how many of their units' groups or rows narrow limits keep, by hand."""


@pytest.mark.parametrize("sql", COUNTED)
def test_a_unit_keeps_as_many_groups_and_rows_as_the_limits_say(
    sql: str, benchmark: Tpch, computed: list[str]
) -> None:
    """Under roomy limits nothing is left out: equal integers there are no evidence."""
    schema = with_limits(benchmark.pushed.schema, NARROW)
    session = Session(schema)
    ready = session.compile(sql)
    (released,) = exact(ready, session).values()
    source = engine_source(schema)
    assert isinstance(source, PostgresSource)
    with transaction(source) as server:
        server.run("SET LOCAL search_path = public")
        ((kept,),) = server.rows(f"SELECT CAST(n AS BIGINT) FROM ({COUNTED[sql]}) AS t(n)")
    assert sum(map(int, released.column(1).to_pylist())) == kept
    assert computed
    session.close()
