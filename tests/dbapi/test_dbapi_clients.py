"""What reads databases through PEP 249: pandas, Polars, JupySQL, and readers of Arrow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpsql
from dpsql.dbapi.connection import Connection

QUERY = """\
SELECT species, count(*) AS birds, sum(body_mass_g) AS grams, avg(bill_length_mm) AS mean,
       DATE '2024-02-29' AS day, 1.50 AS price, true AS yes
FROM penguins GROUP BY species ORDER BY species"""
NAMES = ["species", "birds", "grams", "mean", "day", "price", "yes"]


def test_pandas_reads_a_query(connection: Connection) -> None:
    rows = connection.execute(QUERY).fetchall()
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame = pd.read_sql(QUERY, connection)  # type: ignore[call-overload]
    assert list(frame.columns) == NAMES
    assert frame["birds"].tolist() == [row[1] for row in rows]
    assert frame["mean"].tolist() == [row[3] for row in rows]


def test_pandas_passes_parameters(connection: Connection) -> None:
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame = pd.read_sql(
            "SELECT count(*) AS n FROM penguins WHERE year > ?",
            connection,  # type: ignore[call-overload]
            params=[2007],
        )
    assert frame.shape == (1, 1)


@pytest.mark.parametrize("of", [Connection, dpsql.Cursor])
def test_polars_reads_a_query_with_its_types(connection: Connection, of: type) -> None:
    rows = connection.execute(QUERY).fetchall()
    frame = pl.read_database(QUERY, connection if of is Connection else connection.cursor())
    assert frame.rows() == rows
    assert frame.schema == {
        "species": pl.String(),
        "birds": pl.Int64(),
        "grams": pl.Int128(),
        "mean": pl.Float64(),
        "day": pl.Date(),
        "price": pl.Decimal(3, 2),
        "yes": pl.Boolean(),
    }


def test_pl_has_the_same_types(connection: Connection) -> None:
    read = pl.read_database(QUERY, connection)
    assert connection.execute(QUERY).pl().equals(read)
    assert connection.execute(QUERY).pl().schema == read.schema


def test_a_cursor_is_an_arrow_stream(connection: Connection) -> None:
    table = connection.execute(QUERY).fetch_arrow_table()
    assert pa.table(connection.execute(QUERY)) == table
    assert pl.DataFrame(connection.execute(QUERY)).height == 3


def test_a_stream_has_the_rows_that_are_left(connection: Connection) -> None:
    cursor = connection.execute(QUERY)
    cursor.fetchone()
    assert pa.table(cursor)["species"].to_pylist() == ["Chinstrap", "Gentoo"]
    assert cursor.fetchall() == []


def test_without_polars_the_error_says_what_to_do(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(dpsql.NotSupportedError, match="polars") as caught:
        connection.execute("SHOW dpsql.epsilon").pl()
    assert "pip install polars" in caught.value.hint


NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
import dpsql

shell = InteractiveShell.instance()
shell.user_ns["connection"] = dpsql.connect(sys.argv[1])
shell.run_line_magic("load_ext", "sql")
shell.run_line_magic("config", "SqlMagic.feedback = 0")
shell.run_line_magic("sql", "connection --alias dp")
answer = shell.run_cell_magic(
    "sql", "", "SELECT species, count(*) AS birds FROM penguins GROUP BY species ORDER BY species"
)
print(*answer.DataFrame()["species"])
print(shell.user_ns["connection"].budget.queries_left)
"""


def test_jupysql_asks_through_a_connection(
    fixtures: Path, penguins_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own: IPython changes the one it runs in."""
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    text = (fixtures / "penguins" / "schema.yaml").read_text()
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {penguins_folder}"))
    with dpsql.connect(path) as connection:
        before = connection.budget.queries_left
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", NOTEBOOK, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Adelie Chinstrap Gentoo" in ended.stdout
    assert f"\n{before - 1}\n" in ended.stdout, "it is asked once"
