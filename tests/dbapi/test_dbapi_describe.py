"""SHOW TABLES, DESCRIBE and SUMMARIZE: the schema is told, and nothing of its rows."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.dbapi.connection import Connection


@pytest.mark.parametrize("sql", ["SHOW TABLES", "show all tables;", "DESCRIBE", "desc"])
def test_tables_are_listed_with_whose_rows_they_have(connection: Connection, sql: str) -> None:
    cursor = connection.execute(sql)
    assert [c[0] for c in cursor.description or ()] == ["name", "rows of", "columns", "comment"]
    assert ("penguins", "each its own unit") in [row[:2] for row in cursor.fetchall()]
    assert cursor.privacy is None


@pytest.mark.parametrize(
    "sql",
    ["DESCRIBE penguins", "DESC PENGUINS;", 'describe table "penguins"', "DESCRIBE main.penguins"],
)
def test_columns_are_listed_with_what_the_schema_declares(connection: Connection, sql: str) -> None:
    rows = {row[0]: row[1:] for row in connection.execute(sql).fetchall()}
    table = connection.schema.tables["penguins"]
    assert list(rows) == list(table.columns)
    bounded = next(c for c in table.columns.values() if c.bounds is not None)
    low, high = bounded.bounds or (None, None)
    assert rows[bounded.name][0] == str(bounded.type)
    assert rows[bounded.name][3] == f"from {low} to {high}"
    listed = next(c for c in table.columns.values() if c.values is not None)
    assert rows[listed.name][3] == ", ".join(map(str, listed.values or ()))


def test_a_saved_release_is_described(connection: Connection) -> None:
    connection.execute(
        "CREATE RELEASE by_sex AS SELECT sex, count(*) AS n FROM penguins GROUP BY sex"
    )
    assert "by_sex" in [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
    assert [row[0] for row in connection.execute("DESCRIBE by_sex").fetchall()] == ["sex", "n"]


def test_nothing_is_charged(connection: Connection) -> None:
    before = connection.budget
    connection.execute("SHOW TABLES")
    connection.execute("DESCRIBE penguins")
    assert connection.budget == before


def test_a_summary_is_refused_with_a_statement_that_is_answered(connection: Connection) -> None:
    with pytest.raises(dpsql.NotSupportedError, match="least and the greatest") as refused:
        connection.execute("SUMMARIZE penguins")
    instead = refused.value.hint.partition(": ")[2]
    assert len(connection.execute(instead).fetchall()) == 1


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DESCRIBE pinguins", "no table pinguins"),
        ("DESCRIBE a.b.c.d", "takes the name of a table"),
        ("DESCRIBE penguins more", "takes the name of a table"),
        ("DESCRIBE penguins.", "takes the name of a table"),
        ("DESCRIBE SELECT * FROM penguins", "of a query"),
        ("SUMMARIZE SELECT * FROM penguins", "of a query"),
        ("SUMMARIZE nobody", "no table nobody"),
        ("SUMMARIZE", "SUMMARIZE"),
    ],
)
def test_what_is_no_table_is_told(connection: Connection, sql: str, words: str) -> None:
    with pytest.raises(dpsql.Error, match=words):
        connection.execute(sql)


def test_parameters_are_refused(connection: Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="only queries take parameters"):
        connection.execute("SHOW TABLES", [1])
