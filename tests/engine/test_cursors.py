from __future__ import annotations

import datetime as dt
import gc
import threading
import weakref
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.duckdb.statement import MAX_ROWS, MAX_WAITING, Cursors
from dpsql.engine.read_limit import ReadLimit
from dpsql.errors import ExecutionFailed, TooComplex

SUM: Final = "SELECT sum(n)::BIGINT FROM released"
SIGN: Final = "SELECT max(printf('%g', n)) FROM released"

VALUES: Final[dict[pa.DataType, st.SearchStrategy[object]]] = {
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.sampled_from([nan, inf, -inf, 0.0, -0.0, 5e-324]) | st.floats(width=64),
    pa.decimal128(38, 4): st.decimals(
        -(10**33), 10**33, places=4, allow_nan=False, allow_infinity=False
    ),
    # What the engine gives for a HUGEINT.
    pa.decimal128(38, 0): st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    pa.date32(): st.dates() | st.just(dt.date(9999, 12, 31)),
    pa.timestamp("us"): st.datetimes(),
}


@st.composite
def tables_alike(draw: st.DrawFn) -> list[pa.Table]:
    """Tables that have the same columns, and rows of their own, in pieces."""
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    schema = pa.schema([(f"c{n}", kind) for n, kind in enumerate(kinds)])
    pieces = [
        pa.RecordBatch.from_arrays(
            [
                pa.array(
                    draw(st.lists(st.none() | VALUES[k], min_size=size, max_size=size)), type=k
                )
                for k in kinds
            ],
            schema=schema,
        )
        for size in draw(st.lists(st.integers(0, 4), min_size=2, max_size=6))
    ]
    cut = draw(st.integers(0, len(pieces)))
    return [pa.Table.from_batches(part, schema) for part in (pieces[:cut], pieces[cut:])]


@pytest.fixture
def cursors() -> Cursors:
    return Cursors(duckdb.connect())


@pytest.fixture(scope="module")
def engine() -> DuckDBEngine:
    return postprocessing_engine(threads=1)


def of(*values: float | None) -> dict[str, pa.Table]:
    return {"released": pa.table({"n": list(values)})}


def answer(cursors: Cursors, tables: dict[str, pa.Table], sql: str = SUM) -> object:
    with cursors.having(tables, in_transaction=True) as cursor:
        return cursor.execute(sql).fetchall()[0][0]


def used(cursors: Cursors, tables: dict[str, pa.Table]) -> int:
    """Tells cursors apart."""
    with cursors.having(tables, in_transaction=False) as cursor:
        return id(cursor)


@pytest.fixture(scope="module")
def other() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@settings(deadline=None)
@given(tables=tables_alike(), limited=st.booleans())
def test_rows_are_what_they_are_of_a_cursor_of_their_own(
    engine: DuckDBEngine, other: duckdb.DuckDBPyConnection, tables: list[pa.Table], *, limited: bool
) -> None:
    sql, limit = "SELECT * FROM released", ReadLimit(100, 10**6) if limited else None
    for table in (*tables, tables[0]):
        read = engine.execute(sql, (), {"released": table}, limit=limit).table
        with other.cursor() as cursor:
            cursor.register("released", table)
            expected = cursor.sql(sql).to_arrow_table()
        assert read.schema == expected.schema
        # As text: NaN isn't equal to itself, and 0.0 is to -0.0.
        assert str(read.to_pylist()) == str(expected.to_pylist())


def test_a_cursor_waits_for_tables_of_the_same_names_and_columns(cursors: Cursors) -> None:
    first = used(cursors, of(1, 2))
    assert used(cursors, of(7)) == first
    assert [answer(cursors, of(*range(n))) for n in (3, 4, 0)] == [3, 6, None]
    named = {"n": pa.array([1], pa.int64())}
    others: list[dict[str, pa.Table]] = [
        {"released": pa.table({"n": pa.array([1.5])})},
        {"released": pa.table({"n": pa.array([1], pa.int32())})},
        {"released": pa.table({**named, "m": named["n"]})},
        {"other": pa.table(named)},
        {"released": pa.table(named), "other": pa.table(named)},
        {"released": pa.table(named).replace_schema_metadata({"a": "b"})},
        {},
    ]
    assert first not in {used(cursors, tables) for tables in others}
    assert used(cursors, of(1, 2)) == first


def test_statements_at_once_read_rows_of_their_own(cursors: Cursors) -> None:
    with (
        cursors.having(of(1), in_transaction=False) as one,
        cursors.having(of(2), in_transaction=False) as other,
    ):
        assert one is not other
        assert [cursor.execute(SUM).fetchall() for cursor in (one, other)] == [[(1,)], [(2,)]]


def test_threads_read_rows_of_their_own(engine: DuckDBEngine) -> None:
    wrong: list[object] = []

    def ask(number: int) -> None:
        for n in range(40):
            mine = 1000 * number + n
            read = engine.execute(SUM, (), of(mine)).table.column(0).to_pylist()
            if read != [mine]:
                wrong.append(read)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_tables_that_compare_as_equal_are_told_apart(cursors: Cursors) -> None:
    assert of(0.0)["released"].equals(of(-0.0)["released"])
    assert answer(cursors, of(0.0), SIGN) == "0"
    assert answer(cursors, of(-0.0), SIGN) == "-0"


def test_a_table_may_be_read_twice(cursors: Cursors) -> None:
    twice = "SELECT (SELECT sum(n) FROM released)::BIGINT + max(n) FROM released"
    assert answer(cursors, of(1, 2), twice) == 5
    assert answer(cursors, of(5), twice) == 10


def test_rows_are_let_go_of_when_their_statement_ends(cursors: Cursors) -> None:
    tables = of(1, 2)
    rows = weakref.ref(tables["released"])
    assert answer(cursors, tables) == 3
    del tables
    gc.collect()
    assert rows() is None
    (waiting,) = cursors._waiting
    with pytest.raises(duckdb.Error):
        waiting.connection.execute(SUM).fetchall()


def test_a_cursor_whose_statement_failed_is_closed(cursors: Cursors) -> None:
    answer(cursors, of(1))
    with pytest.raises(duckdb.Error):
        answer(cursors, of(1), "SELECT error('no')")
    assert not cursors._waiting
    assert answer(cursors, of(2)) == 2


def test_what_is_no_single_select_is_refused(
    engine: DuckDBEngine,
) -> None:
    for sql in ("COPY (SELECT 1) TO 'x.csv'", "SELECT 1; SELECT 2", "CREATE TABLE t (n INT)"):
        with pytest.raises(ExecutionFailed):
            engine.execute(sql)


def test_of_tables_with_many_rows_and_of_many_columns_few_cursors_wait(
    cursors: Cursors,
) -> None:
    for number in range(MAX_WAITING + 3):
        assert answer(cursors, {"released": pa.table({"n": [1], f"c{number}": [1]})}) == 1
    assert len(cursors._waiting) == MAX_WAITING
    before = list(cursors._waiting)
    assert answer(cursors, of(*[1] * (MAX_ROWS + 1))) == MAX_ROWS + 1
    assert cursors._waiting == before


def test_after_more_rows_than_the_limit_others_are_read(engine: DuckDBEngine) -> None:
    sql, limit = "SELECT * FROM released, range(3000)", ReadLimit(5000, 10**6)
    for _ in range(2):
        with pytest.raises(TooComplex):
            engine.execute(sql, (), of(1, 2), limit=limit)
        assert engine.execute(sql, (), of(1), limit=limit).table.num_rows == 3000


@pytest.mark.parametrize("in_transaction", [True, False])
def test_a_cursor_without_tables_waits_too(cursors: Cursors, *, in_transaction: bool) -> None:
    with cursors.having({}, in_transaction=in_transaction) as first:
        assert first.execute("SELECT 1").fetchall() == [(1,)]
    with cursors.having({}) as second:
        assert second is first  # and is in no transaction any more
        assert second.execute("SELECT 2").fetchall() == [(2,)]


def test_a_cursor_that_waits_does_not_hold_a_file_once_all_is_closed(tmp_path: Path) -> None:
    file = str(tmp_path / "rows.duckdb")
    cursors = Cursors(duckdb.connect(file))
    with cursors.having(of(2)):
        answer(cursors, of(1))
        cursors.close()
    with duckdb.connect(file, config={"threads": 1}) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_nothing_waits_once_all_is_closed(cursors: Cursors) -> None:
    with cursors.having(of(1), in_transaction=False):
        answer(cursors, of(1))
        cursors.close()
    assert not cursors._waiting


def test_an_interrupt_between_two_statements_stops_neither(cursors: Cursors) -> None:
    with cursors.having(of(1), in_transaction=True) as cursor:
        cursor.execute("SELECT 1").fetchall()
    cursor.interrupt()
    assert used(cursors, of(1)) == id(cursor)
    assert answer(cursors, of(1)) == 1
