from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.database import attached
from schema.shop import load

from dpsql.engine.opening import open_engine
from dpsql.errors import SchemaFault, SourceFault
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.sql_type import (
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
    parse_type,
)

SCHEMA = """\
dataset: shop
source: {source}
units: {{person: {{table: people, key: id}}}}
tables:
  people: {{key: id, unit: person, columns: {{{columns}}}}}
  towns: {{public: true, key: town_id}}
budget: {{epsilon: 1, delta: 1e-6}}
"""

DDL = """
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE people (id BIGINT PRIMARY KEY, age INTEGER NOT NULL CHECK (age < 200), mood mood,
  paid DECIMAL(6,2), mass FLOAT, born DATE, seen TIMESTAMP_NS, tag UUID, word VARCHAR,
  list INTEGER[], zone TIMESTAMPTZ);
INSERT INTO people VALUES (1, 30, 'low', 1.5, 0.5, '2000-01-31', '2024-01-01 00:00:00.000001',
  uuid(), 'x', [1], now());
CREATE TABLE towns (town_id INTEGER, name VARCHAR, mood mood, "odd name" INTEGER, list INTEGER[],
  NAME2 VARCHAR);
INSERT INTO towns VALUES (1, 'A', 'low', 1, [1], 'x');
CREATE VIEW old_people AS SELECT * FROM people;
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute(DDL)
    return tmp_path


def test_types_are_read_and_nothing_else(database: Path) -> None:
    names = "age, mood, paid, mass, born, seen, tag, word"
    columns = ", ".join(f"{name}: {{}}" for name in names.split(", "))
    people = load(database, SCHEMA.format(source="shop.duckdb", columns=columns)).tables["people"]
    expected: dict[str, SqlType] = {
        "id": Integer(64),
        "age": Integer(32),
        "mood": Varchar(),
        "paid": Decimal(6, 2),
        "mass": Double(32),
        "born": Date(),
        "seen": Timestamp(),
        "tag": Uuid(),
        "word": Varchar(),
    }
    assert {name: column.type for name, column in people.columns.items()} == expected
    for column in people.columns.values():
        assert (column.bounds, column.values, column.nullable) == (None, None, True)


def test_only_declared_columns_of_a_private_table_are_there(database: Path) -> None:
    schema = load(database, SCHEMA.format(source="shop.duckdb", columns="mood: , seen: "))
    assert list(schema.tables["people"].columns) == ["id", "mood", "seen"]
    with open_engine(engine_source(schema)) as engine:
        table = engine.execute("SELECT * FROM people").table
    assert table.column_names == ["id", "mood", "seen"]
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "timestamp[us]"]


def test_undeclared_columns_of_a_public_table_are_there_too(database: Path) -> None:
    schema = load(database, SCHEMA.format(source="shop.duckdb", columns=""))
    towns = schema.tables["towns"].columns
    assert list(towns) == ["town_id", "name", "mood", "NAME2"]  # no list, no name with a space
    assert towns["mood"].type == Varchar()
    with open_engine(engine_source(schema)) as engine:
        assert engine.execute("SELECT * FROM towns").table.column_names == list(towns)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            "list: {}",
            "the source has INTEGER[], which is not read; remove the column; keep",
        ),
        ("zone: {type: timestamptz}", "not a type here; write timestamp, as which it is read"),
        ("zone: {type: interval}", "interval is not a type here; see the list of types"),
        ("word: {type: bigint}", "the source has VARCHAR; write varchar"),
        ("age: {type: varchar}", "the source has INTEGER; write integer"),
        ("id: {type: varchar}", "the source has BIGINT; write bigint"),
        ("id: {type: double}", "the source has BIGINT; write bigint"),
        ("agee: {}", "the source has no such column; did you mean age?"),
        ("Age: {}", "the source has no such column; did you mean age?"),
    ],
)
def test_what_the_source_contradicts_is_refused(database: Path, columns: str, says: str) -> None:
    with pytest.raises(SchemaFault) as fault:
        load(database, SCHEMA.format(source="shop.duckdb", columns=columns))
    assert says in fault.value.message
    assert "tables.people.columns." in fault.value.message


@pytest.mark.parametrize("kind", ["smallint", "double", "decimal(10,1)"])
def test_numbers_are_cast_to_what_is_declared(database: Path, kind: str) -> None:
    columns = f"age: {{type: '{kind}'}}, born: {{type: timestamp}}, id: {{type: integer}}"
    schema = load(database, SCHEMA.format(source="shop.duckdb", columns=columns))
    with open_engine(engine_source(schema)) as engine:
        table = engine.execute("SELECT age, typeof(age) AS kind FROM people").table
    assert parse_type(table["kind"][0].as_py()) == parse_type(kind)
    assert table["age"][0].as_py() == 30


def test_views_and_undeclared_tables_are_not_there(database: Path) -> None:
    text = SCHEMA.format(source="shop.duckdb", columns="").replace("towns:", "old_people:")
    with pytest.raises(SchemaFault, match="the source has no such table; did you mean people"):
        load(database, text)


def test_a_broken_source_is_a_source_fault(tmp_path: Path) -> None:
    (tmp_path / "shop.duckdb").write_text("not a database")
    with pytest.raises(SourceFault, match="can't be opened as a DuckDB database"):
        load(tmp_path, SCHEMA.format(source="shop.duckdb", columns=""))


def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    pq.write_table(pa.table({"id": [1], "age": [30]}), data / "people.parquet")
    pq.write_table(pa.table({"town_id": [1]}), data / "towns.parquet")
    return data


def test_a_folder_mixes_files(tmp_path: Path) -> None:
    (folder(tmp_path) / "towns.parquet").unlink()
    (tmp_path / "data" / "towns.csv").write_text("town_id,name,more\n1,A,x\n")
    text = SCHEMA.format(source="data", columns="age:")
    with pytest.raises(SchemaFault, match="a CSV file has no types; declare it"):
        load(tmp_path, text)
    typed = "key: town_id, columns: {town_id: {type: integer}, name: {type: varchar}}"
    schema = load(tmp_path, text.replace("key: town_id", typed))
    # Nothing declares `more`, and a file without types can't offer it.
    assert list(schema.tables["towns"].columns) == ["town_id", "name"]
    with open_engine(engine_source(schema)) as engine:
        joined = engine.execute("SELECT age, name FROM people JOIN towns ON id = town_id").table
    assert joined.to_pylist() == [{"age": 30, "name": "A"}]


def test_a_folder_has_one_file_for_each_table(tmp_path: Path) -> None:
    data = folder(tmp_path)
    text = SCHEMA.format(source="data", columns="")
    (data / "towns.csv").write_text("town_id\n1\n")
    with pytest.raises(SchemaFault, match=r"both towns\.parquet and towns\.csv exist; remove one"):
        load(tmp_path, text)
    (data / "towns.csv").unlink()
    (data / "towns.parquet").unlink()
    with pytest.raises(SchemaFault, match="the source has neither"):
        load(tmp_path, text)


def test_loading_never_needs_rows(tmp_path: Path) -> None:
    text = SCHEMA.format(source="nowhere", columns="")
    with pytest.raises(SchemaFault, match="its type is not known without the source"):
        load(tmp_path, text)


def test_the_types_of_a_text_file_do_not_depend_on_its_rows(tmp_path: Path) -> None:
    data = folder(tmp_path)
    (data / "people.parquet").unlink()
    text = SCHEMA.format(source="data", columns="id: {type: bigint}, age: {type: integer}")
    for rows in ("1,30\n", "1,n/a\n", "1,30\nx,30.5\n,\n"):
        (data / "people.csv").write_text("id,age\n" + rows)
        columns = load(tmp_path, text).tables["people"].columns
        assert [str(column.type) for column in columns.values()] == ["BIGINT", "INTEGER"]
