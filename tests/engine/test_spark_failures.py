"""What fails on Spark fails alike: one error without data, and its charge stands."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from emit.spark_server import ROOT, url
from engine.spark_shop import (
    ORDERS,
    SCHEMA,
    Shop,
    before_it_computes,
    fails_alike,
    is_exact,
    spent,
)
from engine.tcp_relay import relay
from narrowed import integer
from neighbor_search.share import in_turn
from spark_process import spark_pid
from waiting import HANGS_AFTER

import dpsql
from dpsql.dbapi.connection import Connection
from dpsql.engine.spark.session import SparkServerSession
from dpsql.errors import ExecutionFailed, ExecutionStopped, SourceFault
from dpsql.session.run.charge_and_run import charge_and_run

DECLARED = (
    "DROP TABLE {{orders}};CREATE TABLE {{orders}}"
    " (person INT, town {}, word STRING, paid DECIMAL(12,2)) USING parquet"
)


@pytest.fixture
def shop(
    owner: SparkServerSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    made = Shop(owner, tmp_path)
    yield made
    for what in ("VIEW", "TABLE"):
        for name in (made.people, made.orders):
            try:
                owner.rows(f"DROP {what} IF EXISTS {name}")
            except ExecutionFailed:
                continue


def opened(connection: Connection) -> None:
    """Whoever asks first has the claims about the server tested: no release is among these yet."""
    connection._session._context.execution.source()


ALTERATIONS = {
    "dropped": "DROP TABLE {orders}",
    "of other columns": "DROP TABLE {orders};CREATE TABLE {orders} USING parquet AS SELECT 1",
    "a view": "DROP TABLE {orders};CREATE VIEW {orders} AS " + ORDERS,
    "of another format": "DROP TABLE {orders};CREATE TABLE {orders} USING json AS " + ORDERS,
    "of another type": "DROP TABLE {orders};CREATE TABLE {orders} USING parquet AS "
    + ORDERS.replace("CAST(1 + id % 500 AS INT)", "CAST(1 + id % 500 AS DOUBLE)"),
    "of padded texts": DECLARED.format("CHAR(4)"),
    "of a collation": DECLARED.format("STRING COLLATE UTF8_LCASE"),
}


@pytest.mark.parametrize("change", in_turn(((n, (c,)) for n, c in ALTERATIONS.items()), 7))
def test_a_table_that_is_altered_or_replaced_between_planning_and_running(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, change: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with dpsql.connect(shop.path) as connection:
        connection.execute(f"SELECT count(*) AS n FROM {shop.people}")
        capfd.readouterr()

        def then_altered(*arguments: object) -> object:
            shop.run(*change.split(";"))
            return charge_and_run(*arguments)  # type: ignore[arg-type]

        with monkeypatch.context() as patched:
            patched.setattr("dpsql.session.session.charge_and_run", then_altered)
            assert isinstance(fails_alike(connection, shop.count, capfd), ExecutionStopped)


def test_a_table_of_the_same_columns_is_read_as_it_is_when_the_release_begins(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dpsql.connect(shop.path) as connection:

        def then_replaced(*arguments: object) -> object:
            shop.run(
                "DROP TABLE {orders}", f"CREATE TABLE {{orders}} USING parquet AS {ORDERS} LIMIT 0"
            )
            return charge_and_run(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr("dpsql.session.session.charge_and_run", then_replaced)
        rows = connection.execute(shop.count).fetchall()
        assert max(abs(integer(row[1])) for row in rows) < 500


MEANWHILE = {
    "overwritten": "INSERT OVERWRITE {orders} SELECT 1, 'canary', 1.0, 'Bonn'",
    "without a partition": "ALTER TABLE {orders} DROP PARTITION (town = 'Bonn')",
    "dropped": "DROP TABLE {orders}",
}


@pytest.mark.parametrize("change", in_turn(((n, (c,)) for n, c in MEANWHILE.items()), 3))
def test_files_that_change_while_a_release_runs(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, change: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Some statements read a table twice: a unit would count by two versions of it."""
    with dpsql.connect(shop.path) as connection:
        connection.execute(f"SELECT count(*) AS n FROM {shop.people}")
        capfd.readouterr()
        with monkeypatch.context() as patched:
            before_it_computes(patched, lambda _: shop.run(change))
            fails_alike(connection, shop.count_twice, capfd)


def test_a_statement_that_is_cancelled(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    slow = "(SELECT SUM(CAST(id AS DECIMAL(38,0))) FROM RANGE(1000000000000)) > 0"
    with dpsql.connect(shop.path) as connection:
        opened(connection)
        waiting = threading.Event()

        def interrupted() -> None:
            assert waiting.wait(HANGS_AFTER)
            time.sleep(0.5)
            connection._session.interrupt()

        original = SparkServerSession.rows

        def slowly(server: SparkServerSession, sql: str, *more: object) -> object:
            waiting.set()
            text = f"SELECT s.* FROM ({sql}) AS s WHERE {slow}"
            return original(server, text, *more)  # type: ignore[arg-type]

        stopping = threading.Thread(target=interrupted)
        stopping.start()
        with monkeypatch.context() as patched:
            patched.setattr(SparkServerSession, "rows", slowly)
            started = time.monotonic()
            fails_alike(connection, shop.count, capfd)
            assert time.monotonic() - started < 60
        stopping.join()
        is_exact(connection, shop.count)


def test_rows_that_no_rule_has_foreseen_fail_alike(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Were a statement not total, its error would quote a row: it is never repeated."""
    original = SparkServerSession.rows

    def raising(server: SparkServerSession, sql: str, *more: object) -> object:
        hostile = f"EXISTS (SELECT 1 FROM {shop.orders} WHERE CAST(word AS INT) > 0)"
        text = f"SELECT s.* FROM ({sql}) AS s WHERE {hostile}"
        return original(server, text, *more)  # type: ignore[arg-type]

    with dpsql.connect(shop.path) as connection:
        opened(connection)
        monkeypatch.setattr(SparkServerSession, "rows", raising)
        fails_alike(connection, shop.count, capfd)


@pytest.mark.slow
def test_a_connection_that_is_lost(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with relay(int(url().rpartition(":")[2])) as way:
        shop.names(f"sc://127.0.0.1:{way.port}")
        with dpsql.connect(shop.path) as connection:
            with monkeypatch.context() as patched:
                before_it_computes(patched, lambda _: way.cut())
                assert isinstance(fails_alike(connection, shop.count, capfd), ExecutionStopped)
            before = spent(connection)
            with pytest.raises(SourceFault):
                connection.execute(shop.count)
            assert spent(connection) == before
            way.mend()
            # Whoever asks again pays again.
            is_exact(connection, shop.count)


@pytest.mark.slow
def test_a_connection_that_is_lost_for_a_moment_is_found_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with relay(int(url().rpartition(":")[2])) as way:
        shop.names(f"sc://127.0.0.1:{way.port}")

        def blink(_: SparkServerSession) -> None:
            way.cut()
            threading.Timer(1, way.mend).start()

        with dpsql.connect(shop.path) as connection:
            before_it_computes(monkeypatch, blink)
            assert len(connection.execute(shop.count).fetchall()) == 3


def test_a_session_that_ended_is_replaced_before_the_charge(shop: Shop) -> None:
    with dpsql.connect(shop.path) as connection:
        assert len(connection.execute(shop.count).fetchall()) == 3
        idle = connection._session._context.execution.source()._idle  # type: ignore[attr-defined]
        assert idle is not None
        idle._session.client.release_session()
        assert connection.execute(f"SELECT count(*) AS n FROM {shop.people}").fetchall()


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    url()
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    started = subprocess.run(
        [ROOT / ".ci/spark", "start"], check=True, capture_output=True, text=True
    ).stdout.strip()
    try:
        folder = tmp_path / "data"
        folder.mkdir()
        pq.write_table(
            pa.table(
                {"id": pa.array(range(500), pa.int32()), "age": pa.array(range(500), pa.int32())}
            ),
            folder / "people.parquet",
        )
        pq.write_table(
            pa.table(
                {
                    "person": pa.array(range(500), pa.int32()),
                    "town": ["Bonn"] * 500,
                    "word": ["canary"] * 500,
                    "paid": pa.array([None] * 500, pa.decimal128(12, 2)),
                }
            ),
            folder / "orders.parquet",
        )
        path = tmp_path / "shop.yaml"
        text = SCHEMA.format(source=f"{started}/;folder={folder}", people="people", orders="orders")
        path.write_text(text, encoding="utf-8")
        sql = "SELECT town, count(*) AS n, sum(paid) AS total FROM orders GROUP BY town"

        def kill(_: SparkServerSession) -> None:
            os.killpg(spark_pid(started), signal.SIGKILL)

        with dpsql.connect(path) as connection:
            with monkeypatch.context() as patched:
                before_it_computes(patched, kill)
                assert isinstance(fails_alike(connection, sql, capfd), ExecutionStopped)
            once, loss = spent(connection), connection._session.compile(sql).loss
            assert loss is not None
            assert float(once) == pytest.approx(float(loss.amount), rel=1e-9)
            with pytest.raises(SourceFault, match="can't be reached"):
                connection.execute(sql)
            assert spent(connection) == once
    finally:
        subprocess.run([ROOT / ".ci/spark", "stop", started], check=True)
