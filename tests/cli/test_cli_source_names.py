"""Columns that the source calls otherwise: by any text, and by that alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import yaml
from cli.cli_run import Run
from data.database import attached

from dpsql.engine.opening import open_engine
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.verify import verified, verify_keys
from dpsql.session.session import Session
from dpsql.session.sidecar import prepare_source
from dpsql.structs import replace

ROWS = """
SELECT i // 2 AS "User Id", i % 7 AS "Official ""ratings"" (millions)", 100 - i % 7 AS "other, 1",
    'town ' || i % 2 AS "Größe/Ort"
FROM range(2000) AS r(i)
"""
SCHEMA = """
dataset: ratings
source: {source}
units: {{person: {{table: people, key: user_id}}}}
tables:
  people:
    unit: person
    key: user_id
    columns:
      user_id: {{type: bigint, source_name: "User Id"}}
  rated:
    unit: {{column: user_id, references: people.user_id}}
    limits: {{groups: 2, rows_per_group: 2}}
    columns:
      user_id: {{type: bigint, source_name: "User Id"}}
      millions: {{type: integer, bounds: [0, 100], source_name: 'Official "ratings" (millions)'}}
      town: {{type: varchar, values: [town 0, town 1], source_name: Größe/Ort}}
budget: {{epsilon: 64, delta: 1.0e-6, accounting: zcdp}}
per_query: {{epsilon: 32, max_epsilon: 32}}
"""
STATEMENT = "SELECT town, count(*) AS n, sum(millions) AS s FROM rated GROUP BY town ORDER BY town"


@pytest.fixture(params=["duckdb", "parquet", "csv"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Two tables: of people, and of what each of them rated twice."""
    tables = {"people": f'SELECT DISTINCT "User Id" FROM ({ROWS})', "rated": ROWS}
    path = tmp_path / ("data.duckdb" if request.param == "duckdb" else "data")
    if request.param != "duckdb":
        path.mkdir()
    with attached(str(path) if request.param == "duckdb" else ":memory:") as connection:
        for name, rows in tables.items():
            if request.param == "duckdb":
                connection.execute(f"CREATE TABLE {name} AS {rows}")
            else:
                connection.execute(f"COPY ({rows}) TO '{path / name}.{request.param}'")
    return path


@pytest.fixture
def written(source: Path, tmp_path: Path) -> Path:
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.format(source=source), encoding="utf-8")
    return path


@pytest.mark.parametrize("ready", [False, True], ids=["as it is", "prepared"])
def test_statements_read_them_by_their_declared_names(written: Path, *, ready: bool) -> None:
    schema = load_schema(written)
    with open_engine(engine_source(schema)) as engine:
        assert all(verify_keys(schema, engine).values())
        if ready:
            assert prepare_source(schema, engine)
    with closing(Session(schema, epsilon=32)) as session:
        found = session.query(STATEMENT).table
    # Behind them stands the group of those without a town.
    towns, counts, sums = (column.to_pylist()[:2] for column in found.columns)
    assert towns == ["town 0", "town 1"]
    assert all(abs(count - 1000) < 50 for count in counts)  # some 20 standard deviations
    assert all(abs(total - 3000) < 1500 for total in sums)


def test_check_reads_them(run: Run, written: Path) -> None:
    done = run("check", written)
    assert done.code == 0, done.err


def test_one_that_is_another_column_has_another_key_and_other_answers(written: Path) -> None:
    schema = load_schema(written)
    with open_engine(engine_source(schema)) as engine:
        verify_keys(schema, engine)
        fingerprint = engine.fingerprint()
    assert verified(schema, fingerprint) == {"people"}
    rated, people = schema.tables["rated"], schema.tables["people"]
    moved = replace(rated.columns["millions"], source_name="other, 1")
    others = replace(rated, columns={**rated.columns, "millions": moved})
    keys = []
    for known in (schema, replace(schema, tables={**schema.tables, "rated": others})):
        with closing(Session(known, epsilon=8)) as session:
            keys.append(session.compile(STATEMENT).releases[0].key)
    assert keys[0] != keys[1]
    other = replace(people.columns["user_id"], source_name="another")
    tables = {**schema.tables, "people": replace(people, columns={"user_id": other})}
    assert not verified(replace(schema, tables=tables), fingerprint)


def test_init_writes_them(run: Run, source: Path) -> None:
    if (source / "rated.csv").exists():
        pytest.skip("the types of a CSV file are to be decided")
    columns = yaml.safe_load(run("init", source, "-o", "-").out)["tables"]["rated"]["columns"]
    names = {name: said.get("source_name", name) for name, said in columns.items()}
    assert names == {
        "User_Id": "User Id",
        "Official_ratings_millions": 'Official "ratings" (millions)',
        "other_1": "other, 1",
        "Größe_Ort": "Größe/Ort",
    }
