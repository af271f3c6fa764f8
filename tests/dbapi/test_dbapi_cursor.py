from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest
from narrowed import integer

import dpsql
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor

SPECIES = "SELECT species, count(*) AS birds FROM penguins GROUP BY species ORDER BY species"
NAMES = ["Adelie", "Chinstrap", "Gentoo"]


def test_execute_returns_the_cursor_itself(connection: Connection) -> None:
    cursor = connection.cursor()
    assert cursor.execute("SHOW dpsql.epsilon") is cursor
    assert cursor.connection is connection


def test_rows_come_one_by_one_then_in_lots_then_the_rest(connection: Connection) -> None:
    cursor = connection.execute(SPECIES)
    assert (cursor.fetchone() or ())[0] == "Adelie"
    assert cursor.rownumber == 1
    assert [row[0] for row in cursor.fetchmany(1)] == ["Chinstrap"]
    assert [row[0] for row in cursor.fetchall()] == ["Gentoo"]
    assert cursor.fetchone() is None
    assert cursor.fetchmany() == []
    assert cursor.fetchall() == []


def test_fetchmany_takes_arraysize_rows(connection: Connection) -> None:
    cursor = connection.execute(SPECIES)
    assert cursor.arraysize == 1
    assert len(cursor.fetchmany()) == 1
    cursor.arraysize = 5
    assert len(cursor.fetchmany()) == 2


def test_a_cursor_is_iterated_over(connection: Connection) -> None:
    assert [name for name, _ in connection.execute(SPECIES)] == NAMES


def test_counts_are_near_the_truth(connection: Connection) -> None:
    """Laplace or Gaussian noise of ε = 1 is beyond 60 with a probability below 1e-9."""
    rows = connection.execute(SPECIES).fetchall()
    counts = {name: integer(count) for name, count in rows}
    for name, truth in zip(NAMES, (146, 68, 119), strict=True):
        assert abs(counts[name] - truth) < 60


def test_description_and_rowcount_are_of_the_answer(connection: Connection) -> None:
    cursor = connection.cursor()
    assert cursor.description is None
    assert cursor.rowcount == -1
    assert cursor.rownumber is None
    cursor = cursor.execute(SPECIES)
    assert cursor.description == (
        ("species", "VARCHAR", None, None, None, None, None),
        ("birds", "BIGINT", None, None, None, None, None),
    )
    assert cursor.rowcount == 3
    assert cursor.description[1][1] == dpsql.NUMBER


def test_a_statement_without_an_answer_has_nothing_to_fetch(connection: Connection) -> None:
    cursor = connection.execute("SET dpsql.epsilon = 0.5")
    assert cursor.description is None
    assert cursor.rowcount == -1
    for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall, cursor.fetch_arrow_table):
        with pytest.raises(dpsql.InterfaceError, match="no answer"):
            fetch()


def test_a_refused_statement_leaves_no_earlier_answer_behind(connection: Connection) -> None:
    cursor = connection.execute("SHOW dpsql.epsilon")
    with pytest.raises(dpsql.ProgrammingError):
        cursor.execute("SELECT * FROM penguins")
    assert cursor.description is None


@pytest.mark.parametrize(
    "use",
    [
        lambda cursor: cursor.execute("SHOW dpsql.epsilon"),
        lambda cursor: cursor.executemany("SHOW dpsql.epsilon", []),
        lambda cursor: cursor.fetchone(),
        lambda cursor: cursor.fetch_df(),
        lambda cursor: cursor.__enter__(),
    ],
)
def test_a_closed_cursor_is_of_no_use(
    connection: Connection, use: Callable[[Cursor], object]
) -> None:
    with connection.execute("SHOW dpsql.epsilon") as cursor:
        pass
    with pytest.raises(dpsql.InterfaceError, match="closed"):
        use(cursor)


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("species = 'Adelie' AND year > 2007", None),
        ("species = ? AND year > ?", ["Adelie", 2007]),
        ("species = $1 AND year > $2", ("Adelie", 2007)),
        ("species = :kind AND year > :since", {"since": 2007, "kind": "Adelie"}),
    ],
)
def test_parameters_are_constants(
    connection: Connection, condition: str, parameters: list[object] | None
) -> None:
    sql = f"SELECT count(*), avg(body_mass_g) FROM penguins WHERE {condition}"
    plain = (
        "SELECT count(*), avg(body_mass_g) FROM penguins WHERE species = 'Adelie' AND year > 2007"
    )
    # The same query in other words is answered from the store: the very same noise.
    assert connection.execute(sql, parameters).fetchall() == connection.execute(plain).fetchall()


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("year > ?", []),
        ("year > ?", [2007, 2008]),
        ("year > :since", {"until": 2007}),
        ("year > ?", [float("nan")]),
        ("year > ?", [b"2007"]),
        ("species = ?", ["a\0b"]),
        ("year > ?", "2"),
    ],
)
def test_wrong_parameters_are_refused(
    connection: Connection, condition: str, parameters: list[object]
) -> None:
    with pytest.raises(dpsql.ProgrammingError):
        connection.execute(f"SELECT count(*) FROM penguins WHERE {condition}", parameters)


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), Decimal("NaN")])
def test_a_parameter_that_is_no_finite_number_is_told_so(
    connection: Connection, value: object
) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="parameter 1 isn't a finite number"):
        connection.execute("SELECT count(*) FROM penguins WHERE year > ?", [value])


@pytest.mark.parametrize(
    "sql", ["SELECT :a", "SELECT DISTINCT :a", "SELECT :a, :a", "WITH t AS (SELECT :a) FROM t"]
)
def test_a_named_parameter_may_be_the_first_of_a_list(connection: Connection, sql: str) -> None:
    row = connection.execute(sql, {"a": 7}).fetchone()
    assert row is not None
    assert row[0] == 7


def test_no_parameters_are_none(connection: Connection) -> None:
    assert connection.execute("SHOW dpsql.epsilon", []).fetchall() == [("1",)]


def test_executemany_is_refused(connection: Connection) -> None:
    with pytest.raises(dpsql.NotSupportedError, match="executemany"):
        connection.cursor().executemany("SELECT ?", [[1]])


def test_what_is_no_text_is_no_statement(connection: Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="text"):
        connection.execute(b"SELECT 1")  # type: ignore[arg-type]


def test_an_arrow_table_has_the_rows_that_are_left(connection: Connection) -> None:
    cursor = connection.execute(SPECIES)
    cursor.fetchone()
    table = cursor.fetch_arrow_table()
    assert table.column_names == ["species", "birds"]
    assert table.column("species").to_pylist() == NAMES[1:]
    assert cursor.fetch_arrow_table().num_rows == 0


def test_names_that_repeat_stay_so_in_the_description_only(connection: Connection) -> None:
    cursor = connection.execute("SELECT count(*) AS n, sum(body_mass_g) AS n FROM penguins")
    assert [column[0] for column in cursor.description or ()] == ["n", "n"]
    assert cursor.fetch_arrow_table().column_names == ["n", "n_1"]


def test_wide_integers_are_ints(connection: Connection) -> None:
    cursor = connection.execute("SELECT sum(body_mass_g) FROM penguins")
    assert cursor.description is not None
    assert cursor.description[0][1] == "HUGEINT"
    table = cursor.fetch_arrow_table()
    assert table.schema.field(0).type == pa.decimal128(38, 0)
    ((again,),) = connection.execute("SELECT sum(body_mass_g) FROM penguins").fetchall()
    assert isinstance(again, int)


def test_a_data_frame_has_numbers(connection: Connection) -> None:
    pytest.importorskip("pandas")
    frame = connection.execute(
        "SELECT species, sum(body_mass_g) AS mass FROM penguins GROUP BY 1 ORDER BY 1"
    ).fetch_df()
    assert list(frame["species"]) == NAMES
    assert frame["mass"].dtype == "float64"


def test_without_pandas_the_error_says_what_to_do(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dpsql.NotSupportedError, match="pandas") as caught:
        connection.execute("SHOW dpsql.epsilon").fetch_df()
    assert "pip install pandas" in caught.value.hint


def test_sizes_may_be_set_and_mean_nothing(connection: Connection) -> None:
    cursor = connection.cursor()
    cursor.setinputsizes([None])
    cursor.setoutputsize(10, 1)
