"""What analysts wrote reaches nothing but copies, and takes no more than it may."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from session.clinic import made

from dpsql.engine.arrow_result import stream
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import (
    Contents,
    NoAnswer,
    Sandboxes,
    SandboxQuery,
    Stopped,
    TooLargeAnswer,
    reason_of,
)
from dpsql.engine.sandbox.introspection_functions import introspection_functions
from dpsql.engine.sandbox.process import SandboxProcess
from dpsql.errors import Error, ExecutionCancelled, TooComplex
from dpsql.session.session import Session

MOST = ReadLimit(1_000, 2**20)
ROWS = pa.table({"id": [1, 2, 3], "fee": [10, 20, 30]})
COPIES = Contents("one", ("CREATE TABLE docs (id BIGINT, fee BIGINT)",), {"docs": stream(ROWS)})


@contextmanager
def opened(folder: Path, seconds: int) -> Iterator[Session]:
    schema = made(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSQL_STATE", str(folder / "state"))
        patch.setattr("dpsql.session.run.execution.SECONDS", seconds)
        found = Session(schema)
        yield found
        found.close()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """It waits long enough: what is stopped for its time has shown nothing of what it reaches."""
    with opened(tmp_path_factory.mktemp("clinic"), 60) as found:
        yield found


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with opened(tmp_path_factory.mktemp("clinic"), 2) as found:
        yield found


@pytest.fixture(scope="module")
def aside() -> Iterator[SandboxProcess]:
    found = SandboxProcess(2, MOST)
    yield found
    found.close()


def ask(aside: SandboxProcess, sql: str, columns: int = 1) -> pa.Table:
    return aside.ask(COPIES, SandboxQuery("one", sql, MOST, ("",) * columns))


REACHING = [
    "SELECT list(content) FROM read_text('/etc/passwd')",
    "SELECT list(content) FROM read_blob('/etc/hostname')",
    "SELECT list(file) FROM glob('/*')",
    "FROM '/etc/passwd'",
    "FROM read_csv('{source}')",
    "FROM read_duckdb('{source}')",
    "SELECT list(x) FROM query('SELECT 1 AS x')",
    "SELECT list(x) FROM query_table('patients') t(x)",
    "SELECT list(x) FROM query_table('docs') t(x)",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "SELECT list(name) FROM duckdb_settings()",
    "SELECT list(path) FROM duckdb_databases()",
    "SELECT list(install_path) FROM duckdb_extensions()",
    "SELECT list(name) FROM duckdb_secrets()",
    "SELECT list(table_name) FROM information_schema.tables",
    "SELECT list(relname) FROM pg_catalog.pg_class",
    "SELECT list(sql) FROM sqlite_master",
    "SELECT list(metric_name) FROM duckdb_live_query_metrics()",
    "SELECT list(type) FROM duckdb_external_resources(discover := true) t(type)",
    "SELECT list(x) FROM add_grammar_extension('legacy_parser') t(x)",
    "SELECT list(x) FROM remove_grammar_extension('legacy_parser') t(x)",
    "SELECT list(x) FROM parquet_page_index('/etc/hostname') t(x)",
    "SELECT [map_type_id_to_pg_oid(10)]",
    "CREATE EXTENSION REPOSITORY example",
    "SELECT [current_setting('memory_limit')]",
    "SELECT [\"current_setting\" /* */ ('memory_limit')]",
    "SELECT [getenv('HOME')]",
    "SELECT [getvariable('x')]",
    "SELECT [write_log('x')]",
    "SELECT [current_query()]",
    "SELECT [current_user]",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "SET threads = 4",
    "ATTACH '{source}' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "COPY docs TO '{folder}/copied.csv'",
    "EXPORT DATABASE '{folder}/copied'",
    "CREATE TABLE mine AS SELECT 1",
    "WITH x AS (INSERT INTO docs VALUES (9, '', '', 0) RETURNING *) FROM x",
    "WITH x AS (UPDATE docs SET fee = 1 RETURNING *) SELECT list(fee) FROM x",
    "WITH x AS (DELETE FROM docs RETURNING *) SELECT list(fee) FROM x",
    "SELECT list(id) FROM docs; SELECT 1",
    "EXPLAIN SELECT list(id) FROM docs",
    "DESCRIBE docs",
    "SHOW ALL TABLES",
    "SELECT list(x) FROM contents t(x)",
    "SELECT list(x) FROM asked t(x)",
]


@pytest.mark.parametrize("sql", REACHING)
def test_nothing_of_the_host_is_reached_or_told(session: Session, sql: str) -> None:
    folder = session.schema.path.parent
    asked = sql.format(source=folder / "hospital_7731.duckdb", folder=folder)
    with pytest.raises(Error) as refused:
        session.query(asked)
    assert not isinstance(refused.value, TooComplex)
    for place in (str(folder / "hospital_7731.duckdb"), "hospital_7731"):
        assert place in asked or place not in str(refused.value)
    assert not list(folder.glob("copied*"))


OF_THE_ENGINE = ("duckdb_", "information", "pg_", "sqlite", "current_", "getvar", "log(", "query")


@pytest.mark.parametrize("sql", [s for s in REACHING if not any(w in s for w in OF_THE_ENGINE)])
def test_the_process_aside_refuses_them_itself(aside: SandboxProcess, sql: str) -> None:
    """What passed all words would still show nothing: there is nothing."""
    if "serialized" in sql:
        pytest.skip("it is another way to write SELECT 1")
    with pytest.raises(NoAnswer) as refused:
        ask(aside, sql.format(source="/etc/passwd", folder="/tmp"))  # noqa: S108 - never written
    assert "/" not in refused.value.reason.replace("/etc/passwd", "")


def test_all_that_a_catalogue_tells_of_is_copies(aside: SandboxProcess) -> None:
    everything = ask(aside, "SELECT string_agg(table_name, ' ') FROM duckdb_tables()")
    assert everything.column(0).to_pylist() == ["docs"]
    paths = ask(aside, "SELECT count(path) FROM duckdb_databases()")
    assert paths.column(0).to_pylist() == [0]
    sql = "SELECT count(*) FROM duckdb_settings() WHERE value LIKE '/%'"
    assert ask(aside, sql).column(0).to_pylist() == [0]


def test_the_process_knows_nothing_of_its_parents_environment(aside: SandboxProcess) -> None:
    ask(aside, "SELECT 1")
    process = aside._process
    assert process is not None
    told = Path(f"/proc/{process.pid}/environ").read_bytes()
    assert {pair.partition(b"=")[0] for pair in told.split(b"\0") if pair} == {b"PYTHONPATH"}
    assert Path(f"/proc/{process.pid}/cwd").readlink() == Path("/")


def test_no_function_of_a_list_that_grows_is_forgotten() -> None:
    refused = introspection_functions()
    assert {"read_text", "query", "getvariable", "duckdb_settings", "current_setting"} <= refused
    assert refused.isdisjoint({"range", "unnest", "random", "list_sum", "sum", "rank", "now"})
    assert refused.isdisjoint({"date_trunc", "age", "timezone", "strftime", "current_localtime"})


ENDLESS = [
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7",
]
HUGE = [
    "SELECT * FROM range(1000000000)",
    "SELECT repeat('x', 4000000000)",
    "SELECT list(range) FROM range(1000000000)",
    "SELECT string_agg(repeat('x', 1000000), '') FROM range(100000)",
    "SELECT repeat('x', 300000) FROM range(100)",
    "SELECT 1 FROM range(1001)",
]


@pytest.mark.parametrize("sql", ENDLESS)
def test_what_takes_too_long_is_stopped(aside: SandboxProcess, sql: str) -> None:
    ask(aside, "SELECT 1")
    begun = time.monotonic()
    with pytest.raises(Stopped):
        ask(aside, sql)
    assert time.monotonic() - begun < 10
    assert ask(aside, "SELECT sum(fee)::INT FROM docs").column(0).to_pylist() == [60]


@pytest.mark.parametrize("sql", HUGE)
def test_what_takes_too_much_has_no_answer(aside: SandboxProcess, sql: str) -> None:
    with pytest.raises(TooLargeAnswer):
        ask(aside, sql)
    assert ask(aside, "SELECT sum(fee)::INT FROM docs").column(0).to_pylist() == [60]


@pytest.mark.parametrize("sql", [ENDLESS[0], HUGE[1], HUGE[3]])
def test_a_session_says_so_and_goes_on(impatient: Session, sql: str) -> None:
    before = impatient.balance()
    with pytest.raises(TooComplex):
        impatient.query(sql)
    assert impatient.balance() == before
    assert impatient.query("SELECT len(list(id)) FROM docs").table.num_rows == 1


def test_an_interrupt_ends_a_statement(session: Session) -> None:
    session.query("SELECT len(list(id)) FROM docs")
    threading.Timer(0.3, session.interrupt).start()
    with pytest.raises(ExecutionCancelled):
        session.query(ENDLESS[0])


def test_a_closed_session_leaves_no_process(tmp_path: Path) -> None:
    session = Session(made(tmp_path))
    session.query("SELECT len(list(id)) FROM docs")
    aside = session._context.execution.sandbox()
    assert isinstance(aside, SandboxProcess)
    assert aside._process is not None
    number = aside._process.pid
    session.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_copies_are_changed_by_nobody(aside: SandboxProcess) -> None:
    for verb in ("UPDATE docs SET fee = 1", "DELETE FROM docs", "INSERT INTO docs VALUES (4, 4)"):
        with pytest.raises(NoAnswer):
            ask(aside, f"WITH x AS ({verb} RETURNING *) SELECT id, fee FROM x", 2)
    assert ask(aside, "SELECT sum(fee)::INT FROM docs").column(0).to_pylist() == [60]


def test_what_duckdb_says_of_files_is_not_told() -> None:
    found = Sandboxes()
    found.load(COPIES)
    with pytest.raises(duckdb.Error) as raised:
        found.run(SandboxQuery("one", "FROM read_text('/etc/passwd')", MOST, ("",)))
    assert "/etc/passwd" in str(raised.value)
    assert not reason_of(raised.value)
    assert reason_of(duckdb.ConversionException("a\x1b[2Jb\nc")) == "a [2Jb"
