from __future__ import annotations

import decimal
import logging
import pickle
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached
from engine.people import CANARY

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.failure_cause import causes_shown
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.source import DuckDBSource, SourceTable
from dpsql.errors import ExecutionFailed, InterfaceError, InternalError


def test_wide_sums_come_out_exactly(parquet_engine: DuckDBEngine) -> None:
    statement = """
        SELECT sum(x)::HUGEINT AS total, max(y) AS most
        FROM (VALUES (9223372036854775807, 170141183460469231731687303715884105727::HUGEINT),
                     (9223372036854775806, 0)) AS t(x, y)"""
    table = parquet_engine.execute(statement).table
    assert table.schema.types == [pa.decimal128(38, 0)] * 2
    with decimal.localcontext(decimal.Context(prec=50)):
        found = {
            name: int(column[0].as_py()) for name, column in zip(*_columns(table), strict=True)
        }
    assert found == {"total": 2**64 - 3, "most": 2**127 - 1}


def _columns(table: pa.Table) -> tuple[list[str], list[pa.ChunkedArray]]:
    return table.column_names, table.columns


def test_parameters_are_bound(engine: DuckDBEngine) -> None:
    statement = "SELECT count(*) AS n FROM people WHERE word = $1 AND id < $2"
    assert engine.execute(statement, [CANARY, 2]).table["n"][0].as_py() == 1


def test_registered_tables_live_for_one_statement(engine: DuckDBEngine) -> None:
    keys = pa.table({"key": [CANARY, None, "x"], "n": pa.array([1, 2, 3], pa.decimal128(38, 0))})
    statement = 'SELECT "odd ""name".n FROM people JOIN "odd ""name" ON key = word'
    found = engine.execute(statement, (), {'odd "name': keys})
    assert found.table["n"].to_pylist() == [Decimal(1)]
    with pytest.raises(ExecutionFailed):
        engine.execute(statement)


def test_registered_tables_are_found_in_any_case(engine: DuckDBEngine) -> None:
    keys = {"Keys": pa.table({"n": [1, 2]}), "other": pa.table({"n": [3]})}
    assert engine.execute("SELECT sum(n)::INT AS n FROM kEYS", (), keys).table["n"][0].as_py() == 3


def test_what_writes_is_refused_however_often_a_select_like_it_ran(tmp_path: Path) -> None:
    with attached(tmp_path / "a.duckdb") as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS n")
    table = SourceTable("a", None, (("n", "INTEGER"),))
    with DuckDBEngine(DuckDBSource(str(tmp_path / "a.duckdb"), (table,))) as engine:
        # Into the engine's own memory, which no access mode protects.
        engine._connection.execute("CREATE TABLE kept (n INTEGER)")
        writing = "WITH w AS (INSERT INTO kept SELECT n FROM a WHERE n > $1 RETURNING n) FROM w"
        for bound in (5, 5, 0, 0):
            with pytest.raises(ExecutionFailed):
                engine.execute(writing, [bound])
            assert engine.execute("SELECT n FROM a WHERE n > $1", [0]).table.num_rows == 1
        assert engine.execute("SELECT n FROM kept").table.num_rows == 0


def test_registered_tables_compare_as_the_engine_does(parquet_engine: DuckDBEngine) -> None:
    numbers = pa.table({"x": [1.0, float("nan"), float("inf"), None]})
    statement = "SELECT count(*) AS n FROM numbers WHERE x > 5"
    assert parquet_engine.execute(statement, (), {"numbers": numbers}).table["n"][0].as_py() == 2


@pytest.mark.parametrize("name", ["people", "People"])
def test_a_registered_table_hides_no_declared_one(engine: DuckDBEngine, name: str) -> None:
    with pytest.raises(InternalError):
        engine.execute("SELECT * FROM people", (), {name: pa.table({"id": [1]})})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT CAST(word AS INTEGER) FROM people",
        "SELECT error(word) FROM people",
        "SELECT (SELECT word FROM people) AS word",
        "SELECT 9223372036854775807 + id FROM people",
        "SELECT word FROM nowhere",
        "SELEC word FROM people",
        "SELECT $1 + id FROM people",
    ],
)
def test_a_failure_says_nothing(
    engine: DuckDBEngine,
    statement: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ExecutionFailed) as failure:
        engine.execute(statement)
    error = failure.value
    assert error.args == ExecutionFailed().args
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join(traceback.format_exception(error))
    told = [shown, repr(error), repr(pickle.dumps(error)), caplog.text, *capfd.readouterr()]
    for text in told:
        assert CANARY not in text
        assert "Error:" not in text.replace("ExecutionFailed:", "")
    assert caplog.text == ""


def test_threads_do_not_see_each_other(engine: DuckDBEngine) -> None:
    def run(worker: int) -> list[int]:
        found = []
        for turn in range(40):
            keys = pa.table({"n": [worker * 1000 + turn]})
            statement = "SELECT n + $1 AS n FROM keys, people WHERE id = 1"
            found.append(engine.execute(statement, [0], {"keys": keys}).table["n"][0].as_py())
        return found

    with ThreadPoolExecutor(2) as workers:
        results = list(workers.map(run, range(2)))
    assert results == [[worker * 1000 + turn for turn in range(40)] for worker in range(2)]


def test_what_was_refused_is_refused_again(engine: DuckDBEngine) -> None:
    for _ in range(2):
        with pytest.raises(ExecutionFailed):
            engine.execute("SELECT 1; SELECT 2")
        with pytest.raises(ExecutionFailed):
            engine.execute("CREATE TABLE more AS SELECT 1 AS id")


def test_the_same_text_reads_what_it_is_given_each_time(engine: DuckDBEngine) -> None:
    statement = "SELECT n + $1 AS n FROM keys"
    for kind in (pa.int64(), pa.int8(), pa.float64()):
        keys = pa.table({"n": pa.array([1], kind)})
        for added in (1, 2):
            found = engine.execute(statement, [added], {"keys": keys}).table
            assert found["n"].to_pylist() == [1 + added]
            assert pa.types.is_floating(found.schema.types[0]) == (kind == pa.float64())


def test_interrupt_stops_what_runs(parquet_engine: DuckDBEngine) -> None:
    outcome: list[str] = []

    def run() -> None:
        try:
            parquet_engine.execute("SELECT count(*) FROM range(10000000) a, range(100000) b")
        except ExecutionFailed:
            outcome.append("stopped")

    thread = threading.Thread(target=run)
    thread.start()
    until = time.monotonic() + 20
    while thread.is_alive() and time.monotonic() < until:
        parquet_engine.interrupt()
        thread.join(0.05)
    assert outcome == ["stopped"]
    assert parquet_engine.execute("SELECT 1 AS n").table["n"][0].as_py() == 1


def test_a_closed_engine_runs_nothing() -> None:
    engine = postprocessing_engine()
    engine.close()
    engine.close()
    with pytest.raises(InterfaceError):
        engine.execute("SELECT 1")


def test_postprocessing_sees_registered_tables_only(files: Path) -> None:
    with postprocessing_engine(threads=1) as engine:
        released = pa.table({"n": [3, 1, 2]})
        found = engine.execute("SELECT n FROM released ORDER BY n", (), {"released": released})
        assert found.table["n"].to_pylist() == [1, 2, 3]
        for statement in (
            "SELECT * FROM people",
            f"SELECT * FROM read_parquet('{files}/people.parquet')",
        ):
            with pytest.raises(ExecutionFailed):
                engine.execute(statement)


def test_an_owners_process_is_told_the_cause_by_its_class_alone(
    engine: DuckDBEngine, caplog: pytest.LogCaptureFixture
) -> None:
    with causes_shown(), pytest.raises(ExecutionFailed) as failure:
        engine.execute("SELECT CAST(word AS INTEGER) FROM people")
    assert failure.value.args == ExecutionFailed().args
    assert "a statement failed in the engine: " in caplog.text
    assert CANARY not in caplog.text


def test_of_many_tables_each_is_there_once_it_is_named(tmp_path: Path) -> None:
    path, names = str(tmp_path / "many.duckdb"), [f"t{n}" for n in range(120)]
    names += ['with "quotes"', "Größe"]
    with attached(path) as connection:
        for number, name in enumerate(names):
            quoted = '"' + name.replace('"', '""') + '"'
            connection.execute(f"CREATE TABLE {quoted} AS SELECT {number} AS x")
    tables = tuple(SourceTable(name, None, (("x", "INTEGER"),)) for name in names)
    with DuckDBEngine(DuckDBSource(path, tables)) as engine:
        asked = 'SELECT (SELECT x FROM "T7") + (SELECT max(x) FROM t8) AS x FROM t9, "Größe"'
        assert engine.execute(asked).table.column(0).to_pylist() == [15]
        asked = 'SELECT x FROM "with ""quotes""" WHERE x IN (SELECT x FROM (SELECT * FROM t120))'
        with pytest.raises(ExecutionFailed):
            engine.execute(asked)
        asked = asked.replace("t120", "t119")
        assert engine.execute(asked).table.num_rows == 0
