from __future__ import annotations

import math
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.database import attached
from engine.people import CANARY, COLUMNS, source

from dpsql.engine.duckdb import catalog
from dpsql.engine.duckdb.catalog import read_catalog
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.raw import Rows
from dpsql.engine.source import Columns, DuckDBSource, SourceTable
from dpsql.errors import SourceFault


def delimited(folder: Path, content: bytes, columns: Columns) -> DuckDBSource:
    file = folder / "t.csv"
    file.write_bytes(content)
    return DuckDBSource(None, (SourceTable("t", str(file), columns),))


def test_every_form_of_source_has_the_same_rows(engine: DuckDBEngine) -> None:
    rows = engine.execute("SELECT * FROM people ORDER BY id").table.to_pylist()
    assert [row["id"] for row in rows] == [1, 2, None]
    assert [row["word"] for row in rows] == [CANARY, "7", ""]
    assert rows[0]["price"] == 0.5
    assert math.isnan(rows[1]["price"])
    assert rows[2]["price"] is None


def test_a_source_crosses_processes(files: Path) -> None:
    for form in ("duckdb", "parquet", "csv"):
        value = source(files, form)
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


@pytest.mark.parametrize("form", ["duckdb", "parquet"])
def test_the_catalogue_has_names_and_types(files: Path, form: str) -> None:
    found = read_catalog(source(files, form))
    assert found["people"] == (*COLUMNS, ("hidden", "VARCHAR"))


def test_a_file_whose_catalogue_was_read_can_be_written_and_is_read_anew(tmp_path: Path) -> None:
    path, broken = tmp_path / "t.duckdb", tmp_path / "broken.duckdb"
    broken.write_bytes(b"no database")
    write = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])"
    for column in ("one", "two"):
        change = f"CREATE OR REPLACE TABLE t ({column} INTEGER)"
        subprocess.run([sys.executable, "-c", write, str(path), change], check=True)
        assert read_catalog(DuckDBSource(str(path))) == {"t": ((column, "INTEGER"),)}
        with pytest.raises(SourceFault, match="can't be opened"):
            read_catalog(DuckDBSource(str(broken)))


STATE = """
SELECT name, value FROM duckdb_settings()
UNION ALL SELECT 'database', database_name FROM duckdb_databases()
UNION ALL SELECT 'table', table_name FROM duckdb_tables()
ORDER BY ALL
"""


@pytest.mark.parametrize("resources", [{}, {"threads": 1, "memory_limit": "200MB"}])
def test_a_database_that_read_a_catalogue_is_as_good_as_new_to_an_engine(
    files: Path, resources: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog._readers.clear()
    states: list[pa.Table] = []
    for _ in range(2):
        monkeypatch.setattr(catalog, "_taken", set())
        with DuckDBEngine(source(files, "parquet"), **resources) as engine:
            assert not catalog._readers
            states.append(engine.execute(STATE).table)
        read_catalog(source(files, "csv"))
        assert not catalog._readers  # it has headers alone to be read
        read_catalog(source(files, "duckdb"))
        assert catalog._readers
    assert states[0] == states[1]


def test_a_delimited_file_has_only_text(files: Path) -> None:
    found = read_catalog(source(files, "csv"))["people"]
    assert found == tuple((name, "VARCHAR") for name in ("id", "word", "price", "hidden"))


def test_views_of_a_database_are_no_tables(files: Path) -> None:
    assert set(read_catalog(DuckDBSource(str(files / "people.duckdb")))) == {"people"}
    table = SourceTable("looking", None, COLUMNS)
    with pytest.raises(SourceFault, match="no table looking"):
        DuckDBEngine(DuckDBSource(str(files / "people.duckdb"), (table,)))


def test_what_does_not_fit_a_declared_type_is_null(files: Path) -> None:
    columns = (("id", "UTINYINT"), ("word", "INTEGER"), ("price", "DECIMAL(3,1)"))
    for form in ("parquet", "csv"):
        table = SourceTable("people", str(files / f"people.{form}"), columns)
        with DuckDBEngine(DuckDBSource(None, (table,))) as engine:
            found = engine.execute("SELECT word, price FROM people ORDER BY id").table
            assert [str(kind) for kind in found.schema.types] == ["int32", "decimal128(3, 1)"]
            assert found["word"].to_pylist() == [None, 7, None]
            assert found["price"].to_pylist()[1:] == [None, None]


def test_a_text_file_is_cast_row_by_row(tmp_path: Path) -> None:
    content = 'id,"a ""b"\r\n07,"two\nlines"\r\nx,"a,b"\r\n-,""\r\n,\r\n'.encode("utf-8-sig")
    columns = (("id", "BIGINT"), ('a "b', "VARCHAR"))
    with DuckDBEngine(delimited(tmp_path, content, columns)) as engine:
        table = engine.execute("SELECT * FROM t").table
        assert table["id"].to_pylist() == [7, None, None, None]
        assert table['a "b'].to_pylist() == ["two\nlines", "a,b", "", None]
        # Alone, the cast column is what DuckDB would push into its reader, where it raises.
        assert engine.execute("SELECT sum(id) AS n FROM t").table["n"][0].as_py() == 7


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"id,ID\n1,2\n",
        b"id\n1,%b\n",
        b"id,word\n1\n%b,2\n3\n",
        b'id\n"%b\n',
        b"id\xff\n%b\n",
    ],
)
def test_a_file_that_can_not_be_read_fails_the_start_silently(
    tmp_path: Path, content: bytes
) -> None:
    broken = content.replace(b"%b", CANARY.encode())
    with pytest.raises(SourceFault, match="not a readable CSV file") as fault:
        DuckDBEngine(delimited(tmp_path, broken, (("id", "VARCHAR"),)))
    assert fault.value.__context__ is None
    assert CANARY not in fault.value.message + fault.value.hint


def test_folder_names_are_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / f"word={CANARY}"
    folder.mkdir()
    pq.write_table(pa.table({"id": [1]}), folder / "t.parquet")
    (folder / "u.csv").write_text("id\n1\n")
    tables = (
        SourceTable("t", str(folder / "t.parquet"), (("id", "BIGINT"),)),
        SourceTable("u", str(folder / "u.csv"), (("id", "BIGINT"),)),
    )
    found = read_catalog(DuckDBSource(None, tables))
    assert found == {"t": (("id", "BIGINT"),), "u": (("id", "VARCHAR"),)}


def test_text_is_compared_as_bytes_whatever_a_column_declares(tmp_path: Path) -> None:
    # One row would else be in count(*) FILTER (WHERE word = 'ER') and in that of 'er'.
    with attached(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE TABLE t (word VARCHAR COLLATE nocase)")
        connection.execute("INSERT INTO t VALUES ('ER'), ('er')")
    table = SourceTable("t", None, (("word", "VARCHAR"),))
    with DuckDBEngine(DuckDBSource(str(tmp_path / "t.duckdb"), (table,))) as engine:
        found = engine.execute(
            "SELECT count(*) FILTER (WHERE word = 'ER') AS n, count(DISTINCT word) AS m FROM t"
        )
    assert found.table.to_pylist() == [{"n": 1, "m": 2}]


def test_a_path_is_not_a_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "it's [a] * folder"
    folder.mkdir()
    pq.write_table(pa.table({"id": [1]}), folder / "t.parquet")
    table = SourceTable("t", str(folder / "t.parquet"), (("id", "BIGINT"),))
    with DuckDBEngine(DuckDBSource(None, (table,))) as engine:
        assert engine.execute("SELECT id FROM t").table["id"].to_pylist() == [1]


def test_several_engines_read_one_database(files: Path) -> None:
    with DuckDBEngine(source(files, "duckdb")) as one, DuckDBEngine(source(files, "duckdb")) as two:
        for engine in (one, two):
            assert engine.execute("SELECT count(*) AS n FROM people").table["n"][0].as_py() == 3
        with pytest.raises(duckdb.Error):
            duckdb.connect(str(files / "people.duckdb"))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (DuckDBSource("/nowhere/x.duckdb"), "is missing"),
        (DuckDBSource(None, (SourceTable("t", "/nowhere/t.parquet", COLUMNS),)), "is missing"),
        (DuckDBSource("{files}/people.parquet"), "can't be opened as a DuckDB database"),
        (
            DuckDBSource(None, (SourceTable("t", "{files}/people.duckdb", COLUMNS),)),
            "can't be read as a Parquet file",
        ),
        (
            DuckDBSource(None, (SourceTable("t", "{files}/people.csv", (("no", "DATE"),)),)),
            "no column no of table t",
        ),
        (
            DuckDBSource("{files}/people.duckdb", (SourceTable("t", None, COLUMNS),)),
            "no table t",
        ),
    ],
)
def test_a_broken_source_is_named(files: Path, broken: DuckDBSource, message: str) -> None:
    tables = tuple(
        SourceTable(t.name, t.file and t.file.format(files=files), t.columns) for t in broken.tables
    )
    database = broken.database and broken.database.format(files=files)
    with pytest.raises(SourceFault, match=message) as fault:
        DuckDBEngine(DuckDBSource(database, tables))
    assert fault.value.__context__ is None or fault.value.__suppress_context__
    assert CANARY not in str(fault.value)


@pytest.mark.parametrize("form", ["duckdb", "parquet", "csv"])
def test_a_replaced_file_is_noticed(files: Path, tmp_path: Path, form: str) -> None:
    copied = tmp_path / f"people.{form}"
    shutil.copy(files / copied.name, copied)
    with DuckDBEngine(source(tmp_path, form)) as engine:
        engine.execute("SELECT * FROM people")
        replacement = tmp_path / "new"
        shutil.copy(copied, replacement)
        os.utime(replacement, ns=(0, copied.stat().st_mtime_ns))
        replacement.replace(copied)
        for ask in (lambda: engine.execute("SELECT * FROM people"), engine.fingerprint):
            with pytest.raises(SourceFault, match="has changed"):
                ask()


def test_what_fails_while_a_file_is_replaced_is_a_fault_of_the_source(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "people.parquet"
    shutil.copy(files / copied.name, copied)

    def fail(*_: object, **__: object) -> Rows:
        copied.write_bytes(b"another file")
        raise duckdb.IOException

    with DuckDBEngine(source(tmp_path, "parquet")) as engine:
        monkeypatch.setattr(DuckDBEngine, "_run", fail)
        with pytest.raises(SourceFault, match="has changed"):
            engine.execute("SELECT * FROM people")


def test_how_many_rows_there_are_is_known_unless_all_would_be_read(files: Path) -> None:
    for form, rows in (("duckdb", 3), ("parquet", 3), ("csv", 0)):
        with DuckDBEngine(source(files, form)) as engine:
            assert [
                engine.row_count_for_planning("people"),
                engine.row_count_for_planning("people"),
            ] == [rows, rows]


def test_rows_that_cannot_be_read_are_none(files: Path, tmp_path: Path) -> None:
    changed = shutil.copy(files / "people.parquet", tmp_path / "people.parquet")
    table = SourceTable("people", str(changed), COLUMNS)
    with DuckDBEngine(DuckDBSource(None, (table,))) as engine:
        Path(changed).write_bytes(b"no rows")
        assert engine.row_count_for_planning("people") == 0
