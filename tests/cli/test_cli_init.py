from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from cli.cli_run import Run
from data.database import attached

from dpsql.schema.load.load import load_schema

DATABASE = """
CREATE TABLE people (
    id BIGINT PRIMARY KEY, age INTEGER, "first name" VARCHAR, photo BLOB, mood ENUM('good', 'bad'),
    "no" VARCHAR
);
CREATE TABLE visits (
    person BIGINT REFERENCES people (id), day DATE, began TIMESTAMP_NS, cost DECIMAL(10, 2)
);
CREATE VIEW seen AS SELECT * FROM visits;
COMMENT ON TABLE visits IS 'one line: "each" visit
# and no comment';
COMMENT ON COLUMN visits.cost IS 'in euro';
INSERT INTO people SELECT i, 17 + i % 60, '', NULL, 'good', '' FROM range(1000) AS t(i);
INSERT INTO visits SELECT i % 1000, DATE '2024-03-01', '2024-03-01', 5 FROM range(2000) AS t(i);
"""

METADATA = """
"":
  main:
    people:
      max_ids: 1
      row_privacy: false
      rows: 1000
      pid: {type: int, private_id: true}
      age: {type: int, lower: 0, upper: 120}
      income: {type: float, lower: -1000.5, upper: 1e6, nullable: false}
      married: {type: boolean}
      educ: {type: string, cardinality: 16}
    events:
      max_ids: 5
      pid: {type: int, private_id: true}
      at: {type: datetime}
    readings:
      row_privacy: true
      value: {type: float}
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my clinic.duckdb"
    with attached(path) as connection:
        connection.execute(DATABASE)
    return path


def test_a_skeleton_has_names_types_keys_and_comments_of_the_catalogue(
    run: Run, database: Path
) -> None:
    written = yaml.safe_load(run("init", database, "-o", "-").out)
    assert written["dataset"] == "my-clinic"
    assert set(written["tables"]) == {"people", "visits"}
    people, visits = written["tables"]["people"], written["tables"]["visits"]
    assert people["key"] == "id"
    assert people["columns"] == {
        "id": {"type": "bigint"},
        "age": {"type": "integer"},
        "photo": {"type": "varchar"},
        "first_name": {"type": "varchar", "source_name": "first name"},
        "mood": {"type": "varchar"},
        "no": {"type": "varchar"},
    }
    assert visits["comment"] == 'one line: "each" visit\n# and no comment'
    assert visits["columns"] == {
        "person": {"type": "bigint", "references": "people.id"},
        "day": {"type": "date"},
        "began": {"type": "timestamp"},
        "cost": {"type": "decimal(10,2)", "comment": "in euro"},
    }


def test_nothing_of_the_rows_is_in_a_skeleton(run: Run, database: Path) -> None:
    """The same tables without rows give the same text, and an ENUM's labels aren't in it."""
    text = run("init", database, "-o", "-").out
    with attached(database) as connection:
        connection.execute("DELETE FROM visits")
        connection.execute("DELETE FROM people")
    assert run("init", database, "-o", "-").out == text
    assert "good" not in text
    assert "1000" not in text


def test_a_skeleton_is_refused_until_its_owner_decides(
    run: Run, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("init", database)
    assert ended.code == 0
    assert ended.err.splitlines()[-1] == "  dpsql check schema.yaml"
    refused = run("check", "schema.yaml")
    assert refused.code == 1
    assert "tables.people: says neither whose its rows are" in refused.err

    text = Path("schema.yaml").read_text()
    text = text.replace("# units:", "units:").replace("#   people:", "  people:")
    text = text.replace("# unit: people ", "unit: people ", 1)
    text = text.replace("# unit: {column: person", "unit: {column: person")
    Path("schema.yaml").write_text(text)
    ended = run("check", "schema.yaml")
    assert ended.code == 0, ended.err
    assert "id: holds" in ended.out
    assert run("query", "schema.yaml", "SELECT count(*) FROM visits").code == 0


def test_a_schema_that_is_there_is_not_overwritten(
    run: Run, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text("mine")
    ended = run("init", database, "--output", path)
    assert ended.code == 2
    assert "--output" in ended.err
    assert path.read_text() == "mine"


def test_a_folder_gives_a_table_for_each_file(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    pq.write_table(pa.table({"id": [1], "name": ["a"]}), data / "people.parquet")
    (data / "towns.csv").write_text("town,people\nAachen,7\n")
    (data / "notes.txt").write_text("no table")
    text = run("init", data, "-o", "-").out
    written = yaml.safe_load(text)
    assert {name: list(t["columns"]) for name, t in written["tables"].items()} == {
        "people": ["id", "name"],
        "towns": ["town", "people"],
    }
    assert "a CSV file has none" in text
    assert "Aachen" not in text


def test_the_source_is_named_from_where_the_schema_lies(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "schemas").mkdir()
    pq.write_table(pa.table({"id": [1]}), data / "people.parquet")
    path = tmp_path / "schemas" / "schema.yaml"
    assert run("init", data, "-o", path).code == 0
    assert yaml.safe_load(path.read_text())["source"] == "../data"


def test_smartnoises_metadata_is_taken_over(run: Run, tmp_path: Path) -> None:
    metadata = tmp_path / "pums.yaml"
    metadata.write_text(METADATA)
    path = tmp_path / "schema.yaml"
    assert run("init", metadata, "-o", path).code == 0
    schema = load_schema(path)
    people, events = schema.tables["people"], schema.tables["events"]
    assert schema.units["pid"].table == "people"
    assert people.columns["age"].bounds == (0, 120)
    assert people.columns["income"].bounds is not None
    assert not people.columns["income"].nullable
    assert people.limits.rows == 1
    assert events.limits.rows == 5
    assert {name: type(t.ownership).__name__ for name, t in schema.tables.items()} == {
        "people": "EntityUnit",
        "events": "EntityUnit",
        "readings": "RowUnit",
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.yaml", b""),
        ("list.yaml", b"[1, 2]"),
        ("broken.yaml", b"a: [b"),
        ("bytes.yaml", b"\xff"),
        ("table.csv", b"a,b\n"),
        ("no.duckdb", b"nothing"),
    ],
)
def test_what_is_no_source_says_what_is(
    run: Run, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    ended = run("init", tmp_path / name, "-o", "-")
    assert ended.code == 1
    assert ended.err.startswith("error: ")
    assert "hint: " in ended.err


def test_an_empty_folder_is_no_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    ended = run("init", tmp_path / "data")
    assert ended.code == 1
    assert "has no tables" in ended.err


def test_tables_of_several_schemas_are_drafted_with_theirs(run: Run, tmp_path: Path) -> None:
    with attached(tmp_path / "works.duckdb") as connection:
        connection.execute("CREATE SCHEMA staff; CREATE TABLE staff.people (id BIGINT PRIMARY KEY)")
        connection.execute("CREATE TABLE staff.shifts (person BIGINT REFERENCES staff.people (id))")
        connection.execute("CREATE TABLE sites (town VARCHAR)")
        connection.execute("COMMENT ON TABLE staff.people IS 'who works here'")
    text = run("init", tmp_path / "works.duckdb", "-o", "-").out
    written = yaml.safe_load(text)["tables"]
    assert list(written) == ["sites", "staff.people", "staff.shifts"]
    assert written["staff.people"]["comment"] == "who works here"
    assert "#   people: {table: staff.people, key: id}" in text
    assert "# unit: {column: person, references: staff.people.id}" in text


def test_folders_are_schemas_and_partitions_are_not(run: Run, tmp_path: Path) -> None:
    for name in ("sales/orders", "year=2024/orders", "towns", "a.b"):
        file = tmp_path / "data" / f"{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": [1]}), file)
    text = run("init", tmp_path / "data", "-o", "-").out
    assert list(yaml.safe_load(text)["tables"]) == ["sales.orders", "towns"]
    assert "2024" not in text
    assert "# a.b.parquet: not a plain name" in text
