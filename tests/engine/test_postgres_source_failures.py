"""What fails on a server after the charge fails alike, says nothing of rows, and may be stopped."""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from engine.postgres_world import PASSWORD, Database, database

from dpsql.engine.duckdb.failure_cause import causes_shown
from dpsql.engine.postgres import connection
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.source import ServerTable
from dpsql.errors import ExecutionCancelled, ExecutionStopped, SourceFault, SourceLocked
from dpsql.session.digest.codec import digested

ROWS = 250_000
T = ServerTable(
    "t", (("id", "INTEGER"), ("word", "VARCHAR"), ("price", "DECIMAL(12,2)")), key=("id",)
)
SUM = 'SELECT sum(price) AS s, count(word) AS n FROM "t"'


@pytest.fixture(scope="module")
def world() -> Iterator[Database]:
    with database() as created:
        yield created


@pytest.fixture
def engine(world: Database) -> Iterator[PostgresEngine]:
    world.run(
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public",
        "CREATE TABLE t (id integer PRIMARY KEY, word text, price numeric(12,2))",
        "INSERT INTO t SELECT n, 'canary-word', 0.01 FROM generate_series(1, 1000) AS n",
    )
    world.grant()
    with PostgresEngine(world.source(T)) as opened:
        yield opened


def fault_of(work: Callable[[], object]) -> Exception:
    """What `work` raises, which leads back to nothing that a server or DuckDB said."""
    with pytest.raises((SourceFault, ExecutionStopped, ExecutionCancelled)) as raised:
        work()
    error = raised.value
    assert error.__cause__ is None
    assert error.__context__ is None
    for text in (str(error), repr(error)):
        for secret in ("canary", PASSWORD, "ERROR", "psycopg", "adbc", "SQLSTATE"):
            assert secret not in text
    return error


CHANGES = {
    "dropped": "DROP TABLE t",
    "renamed": "ALTER TABLE t RENAME TO u",
    "a column dropped": "ALTER TABLE t DROP COLUMN price",
    "another type": "ALTER TABLE t ALTER price TYPE text",
    "a type that is not read": "ALTER TABLE t ALTER word TYPE json USING to_json(word)",
    "its key dropped": "ALTER TABLE t DROP CONSTRAINT t_pkey",
    "row security": "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    "rights taken": "REVOKE SELECT ON t FROM {role}",
    "rights given": "GRANT INSERT ON t TO {role}",
    "a view in its place": "ALTER TABLE t RENAME TO u; CREATE VIEW t AS SELECT * FROM u",
    "inherited from": "CREATE TABLE child () INHERITS (t)",
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_changed_since_it_was_opened_is_not_read(
    world: Database, engine: PostgresEngine, case: str
) -> None:
    assert engine.execute(SUM).table["n"][0].as_py() == 1000
    world.run(*CHANGES[case].format(role=world.role).split(";"))
    assert isinstance(fault_of(lambda: engine.execute(SUM)), SourceFault)


def test_what_does_not_matter_may_change(world: Database, engine: PostgresEngine) -> None:
    world.run("ALTER TABLE t ADD COLUMN more integer", "CREATE INDEX ON t (word)")
    world.run("ALTER TABLE t ALTER price TYPE numeric(20,4)", "TRUNCATE t")
    assert engine.execute(SUM).table["n"][0].as_py() == 0


def test_a_table_that_is_read_is_locked_against_changes(
    world: Database, engine: PostgresEngine
) -> None:
    with engine.snapshot() as rows:
        rows.execute(SUM)
        world.run("SET lock_timeout = '100ms'")
        for change in ("DROP TABLE t", "TRUNCATE t", "ALTER TABLE t RENAME TO u"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                world.run(change)
    world.run("DROP TABLE t", "SET lock_timeout = 0")
    assert world.sessions()  # it waits for the next statement, without a lock


@pytest.mark.usefixtures("engine")
def test_a_table_that_was_rewritten_during_a_snapshot_is_not_read(world: Database) -> None:
    world.run("CREATE TABLE other (v integer)", "INSERT INTO other VALUES (1)")
    world.grant()
    both = world.source(T, ServerTable("other", (("v", "INTEGER"),)))
    with PostgresEngine(both) as opened, opened.snapshot() as rows:
        rows.execute('SELECT count(*) FROM "other"')
        # Its rows would be gone, though the snapshot is of before.
        world.run("TRUNCATE t")
        error = fault_of(lambda: rows.execute(SUM))
        assert "replaced while it was opened" in str(error)


@pytest.mark.usefixtures("engine")
def test_columns_that_were_renamed_during_a_snapshot_are_not_read(world: Database) -> None:
    world.run(
        "CREATE TABLE other (v integer)",
        "ALTER TABLE t ADD COLUMN twice integer DEFAULT 1",
    )
    world.grant()
    both = world.source(T, ServerTable("other", (("v", "INTEGER"),)))
    with PostgresEngine(both) as opened, opened.snapshot() as rows:
        rows.execute('SELECT count(*) FROM "other"')
        # By the snapshot's catalog, id is a key; what is called id now has one value in all rows.
        world.run(
            "ALTER TABLE t RENAME id TO before",
            "ALTER TABLE t RENAME twice TO id",
        )
        error = fault_of(lambda: rows.execute('SELECT count(DISTINCT id) FROM "t"'))
        assert "t was replaced while it was opened" in str(error)


@pytest.mark.usefixtures("engine")
def test_partitions_that_come_during_a_snapshot_are_not_read(world: Database) -> None:
    world.run(
        "CREATE TABLE parted (k integer, v integer) PARTITION BY LIST (k)",
        "CREATE TABLE first PARTITION OF parted FOR VALUES IN (1)",
        "CREATE TABLE second (k integer, v integer)",
        "INSERT INTO parted VALUES (1, 1)",
        "INSERT INTO second VALUES (2, 1)",
    )
    world.grant()
    parted = ServerTable("parted", (("k", "INTEGER"), ("v", "INTEGER")))
    with PostgresEngine(world.source(parted)) as opened:
        with opened.snapshot() as rows:
            assert rows.execute('SELECT count(k) AS n FROM "parted"').table["n"][0].as_py() == 1
            # Its rows are older than the snapshot, and so are in it.
            world.run("ALTER TABLE parted ATTACH PARTITION second FOR VALUES IN (2)")
            error = fault_of(lambda: rows.execute('SELECT sum(v) FROM "parted"'))
            assert "the partitions of parted changed" in str(error)
        assert opened.execute('SELECT count(k) AS n FROM "parted"').table["n"][0].as_py() == 2


@pytest.mark.usefixtures("engine")
def test_a_table_that_is_locked_is_waited_for_and_then_refused(
    world: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection._SETTINGS, "lock_timeout", "200ms")
    with PostgresEngine(world.source(T)) as opened, world.owner.transaction():
        world.run("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        assert isinstance(fault_of(lambda: opened.execute(SUM)), SourceLocked)


@pytest.mark.usefixtures("engine")
def test_a_statement_that_takes_too_long_is_stopped(world: Database) -> None:
    world.run("INSERT INTO t SELECT n, repeat('x', 200), 1 FROM generate_series(1001, 60000) AS n")
    with PostgresEngine(world.source(T)) as opened:
        with opened.snapshot() as rows:
            rows.execute('SELECT count(*) FROM "t" WHERE false')
            assert rows._server is not None
            rows._server.run("SET LOCAL statement_timeout = '1ms'")
            fault_of(lambda: rows.execute(SUM))
        assert opened.execute(SUM).table["n"][0].as_py() == 60_000


def test_a_connection_that_is_lost_is_replaced(world: Database, engine: PostgresEngine) -> None:
    engine.execute(SUM)
    for pid in world.sessions():
        world.owner.execute("SELECT pg_terminate_backend(%s)", [pid])
    assert engine.execute(SUM).table["n"][0].as_py() == 1000
    with engine.snapshot() as rows:
        rows.execute('SELECT count(id) FROM "t"')
        for pid in world.sessions():
            world.owner.execute("SELECT pg_terminate_backend(%s)", [pid])
        fault_of(lambda: rows.execute(SUM))
    assert engine.execute(SUM).table["n"][0].as_py() == 1000


def many(world: Database) -> None:
    world.run(
        "INSERT INTO t SELECT n, repeat(md5(n::text), 8), n"
        f" FROM generate_series(1001, {ROWS}) AS n"
    )


@pytest.mark.usefixtures("engine")
def test_too_many_rows_are_stopped_before_memory_is_gone(world: Database) -> None:
    many(world)
    with PostgresEngine(world.source(T), threads=1, memory_limit="48MB") as opened:
        assert isinstance(fault_of(lambda: opened.execute(SUM)), ExecutionStopped)
        assert opened.execute('SELECT count(*) AS n FROM "t"').table["n"][0].as_py() == ROWS


def test_an_interrupt_stops_the_server(world: Database, engine: PostgresEngine) -> None:
    many(world)
    started = time.monotonic()

    def interrupt() -> None:
        while not world.locked("t") and time.monotonic() - started < 20:
            time.sleep(0.005)
        engine.interrupt()

    stopping = threading.Thread(target=interrupt)
    stopping.start()
    try:
        with engine.snapshot() as rows:
            error = fault_of(lambda: [rows.execute(SUM), rows.execute(SUM)])
            assert isinstance(error, ExecutionCancelled)
            # All that would come after it, too.
            assert isinstance(fault_of(lambda: rows.execute(SUM)), ExecutionCancelled)
    finally:
        stopping.join()
    until = time.monotonic() + 10
    while world.locked("t") and time.monotonic() < until:
        time.sleep(0.02)
    assert not world.locked("t")
    assert engine.execute(SUM).table["n"][0].as_py() == ROWS


def test_the_log_has_no_rows_and_no_password(
    world: Database, engine: PostgresEngine, caplog: pytest.LogCaptureFixture
) -> None:
    world.run("ALTER TABLE t RENAME TO u")
    with caplog.at_level(logging.WARNING, "dpsql.engine"), causes_shown():
        fault_of(lambda: engine.execute(SUM))
    assert "the server: postgresql:///" in caplog.text
    assert "canary" not in caplog.text
    assert PASSWORD not in caplog.text


def test_a_source_crosses_processes_with_its_password_and_shows_it_to_nobody(
    world: Database,
) -> None:
    source = world.source(T)
    assert pickle.loads(pickle.dumps(source)) == source  # noqa: S301 - our own
    for text in (repr(source), str(source), f"{source}", digested(source)):
        assert "cret" not in text
        assert world.role not in text
    other = world.source(ServerTable("t", T.columns))
    assert digested(other) != digested(source)


def test_threads_have_snapshots_of_their_own(world: Database, engine: PostgresEngine) -> None:
    counts: list[int] = []

    def ask() -> None:
        with engine.snapshot() as rows:
            statements = (SUM, 'SELECT count(*) AS n FROM "t"', SUM)
            counts.extend(rows.execute(sql).table["n"][0].as_py() for sql in statements)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1000] * 12
    assert len(world.sessions()) >= 1


def test_closing_ends_the_connection(world: Database, engine: PostgresEngine) -> None:
    engine.execute(SUM)
    engine.close()
    until = time.monotonic() + 10
    while world.sessions() and time.monotonic() < until:
        time.sleep(0.02)
    assert not world.sessions()
