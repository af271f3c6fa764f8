from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dpsql.engine.duckdb.statement import MAX_REGISTERED_BYTES, MAX_WAITING, Cursors

SUM = "SELECT sum(n)::BIGINT FROM keys"
SIGN = "SELECT max(printf('%g', n)) FROM keys"


@pytest.fixture
def cursors() -> Cursors:
    return Cursors(duckdb.connect())


def keys(*values: float | None) -> dict[str, pa.Table]:
    return {"keys": pa.table({"n": list(values)})}


def answer(cursors: Cursors, tables: dict[str, pa.Table], sql: str = SUM) -> object:
    with cursors.having(tables) as cursor:
        return cursor.execute(sql).fetchall()[0][0]


def used(cursors: Cursors, tables: dict[str, pa.Table]) -> int:
    """Tells cursors apart."""
    with cursors.having(tables) as cursor:
        return id(cursor)


def test_a_cursor_is_kept_for_the_very_same_tables(cursors: Cursors) -> None:
    first = used(cursors, keys(1, 2))
    assert used(cursors, keys(1, 2)) == first
    assert answer(cursors, keys(1, 2)) == 3
    assert answer(cursors, keys(1, 3)) == 4
    assert answer(cursors, keys(1, 2)) == 3
    assert answer(cursors, keys(1, 2, None)) == 3
    assert answer(cursors, {"keys": pa.table({"n": pa.array([2**40], pa.int64())})}) == 2**40


def test_tables_that_compare_as_equal_are_told_apart(cursors: Cursors) -> None:
    assert keys(0.0)["keys"].equals(keys(-0.0)["keys"])
    assert answer(cursors, keys(0.0), SIGN) == "0"
    assert answer(cursors, keys(-0.0), SIGN) == "-0"


def test_statements_at_once_have_a_cursor_each(cursors: Cursors) -> None:
    with cursors.having(keys(1)) as one, cursors.having(keys(1)) as other:
        assert one is not other


def test_a_cursor_whose_statement_failed_is_not_kept(cursors: Cursors) -> None:
    answer(cursors, keys(1))
    with pytest.raises(duckdb.Error):
        answer(cursors, keys(1), "SELECT error('no')")
    assert not cursors._waiting
    assert answer(cursors, keys(1)) == 1


def test_of_many_and_of_large_tables_no_cursor_is_kept(cursors: Cursors) -> None:
    for number in range(MAX_WAITING + 3):
        assert answer(cursors, keys(number)) == number
    assert len(cursors._waiting) == MAX_WAITING
    before = list(cursors._waiting)
    large = {"keys": pa.table({"n": [1] * (MAX_REGISTERED_BYTES // 8 + 1)})}
    assert answer(cursors, large) == MAX_REGISTERED_BYTES // 8 + 1
    assert list(cursors._waiting) == before


@pytest.mark.parametrize("in_transaction", [True, False])
def test_a_cursor_without_tables_is_kept_too(cursors: Cursors, *, in_transaction: bool) -> None:
    with cursors.having({}, in_transaction=in_transaction) as first:
        assert first.execute("SELECT 1").fetchall() == [(1,)]
    with cursors.having({}) as second:
        assert second is first  # and is in no transaction any more
        assert second.execute("SELECT 2").fetchall() == [(2,)]


def test_a_kept_cursor_does_not_hold_a_file_once_all_is_closed(tmp_path: Path) -> None:
    file = str(tmp_path / "rows.duckdb")
    cursors = Cursors(duckdb.connect(file))
    with cursors.having(keys(2)):
        answer(cursors, keys(1))
        cursors.close()
    with duckdb.connect(file, config={"threads": 1}) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_an_interrupt_between_two_statements_stops_neither(cursors: Cursors) -> None:
    with cursors.having(keys(1)) as cursor:
        cursor.execute("SELECT 1").fetchall()
    cursor.interrupt()
    assert used(cursors, keys(1)) == id(cursor)
    assert answer(cursors, keys(1)) == 1
