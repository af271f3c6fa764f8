"""A sidecar holds each row of a table that has a unit once, or it isn't used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness
from schema.file_source import file_source

from dpsql.engine.engine import Engine
from dpsql.engine.fingerprint import fingerprint
from dpsql.engine.opening import open_engine
from dpsql.engine.sidecar.contents import UNIT_SCHEMA
from dpsql.engine.source import DuckDBSource
from dpsql.errors import SourceFault
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.verify import verify_keys
from dpsql.session.sidecar import open_source, prepare_source, sidecar_of, sidecar_path

SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}, paid: {type: double}}}
  sales:
    key: sale
    unit: {column: buyer, references: buyers.buyer}
    columns: {sale: {type: bigint}, buyer: {type: bigint}, item: {type: varchar}}
  lines:
    unit: {column: sale, references: sales.sale}
    columns: {sale: {type: bigint}, kind: {type: varchar}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

ROWS = {
    "buyers": "SELECT i AS buyer, i / 2 AS paid FROM range(10) r(i)",
    # Of 50 sales, 5 are nobody's.
    "sales": "SELECT i AS sale, nullif(i % 10, 9) AS buyer, 'item ' || i % 3 AS item"
    " FROM range(50) r(i)",
    # Of 60 lines, 10 are of no sale, and 5 of a sale that is nobody's.
    "lines": "SELECT i AS sale, 'kind ' || i % 2 AS kind FROM range(60) r(i)",
}


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    with attached(tmp_path / "shop.duckdb") as connection:
        for table, rows in ROWS.items():
            connection.execute(f"CREATE TABLE {table} AS {rows}")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return load_schema(tmp_path / "schema.yaml")


@pytest.fixture
def ready(schema: Schema) -> Schema:
    with open_engine(engine_source(schema)) as engine:
        found = prepare_source(schema, engine, randomness=SeededRandomness("rows"))
    assert found == ("buyers", "sales", "lines")
    return schema


@pytest.fixture
def inside(ready: Schema) -> Iterator[duckdb.DuckDBPyConnection]:
    with attached(sidecar_path(ready)) as connection:
        yield connection


def test_each_row_with_a_unit_is_there_once(inside: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT (SELECT count(*) FROM {}), (SELECT count(*) FROM {}.{})"
    counted = [
        inside.execute(sql.format(name, UNIT_SCHEMA, name)).fetchone()
        for name in ("sales", "lines")
    ]
    assert counted == [(45, 9), (45, 9)]
    assert inside.execute("SELECT count(*) FROM buyers").fetchone() == (10,)


def test_one_is_made_of_empty_tables(schema: Schema) -> None:
    with attached(file_source(schema).path) as connection:
        for table in ROWS:
            connection.execute(f"DELETE FROM {table}")
    with open_engine(engine_source(schema)) as engine:
        found = prepare_source(schema, engine)
    assert used(schema) == {*found} == {"buyers", "sales", "lines"}


def test_of_wide_rows_fewer_are_held_in_memory_at_a_time(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr("dpsql.engine.sidecar.row_parts._BYTES_AT_ONCE", 500)
    with attached(file_source(schema).path) as connection:
        connection.execute("UPDATE sales SET item = repeat('x', 100)")
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine, steps.append)
    assert "counting and sorting the rows of buyers" in steps
    assert any(step.startswith("counting and sorting the rows of sales, part 9") for step in steps)
    assert used(schema) == {"buyers", "sales", "lines"}


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO sales BY NAME SELECT sale FROM sales LIMIT 1",
        "DELETE FROM lines WHERE sale = 1",
        f"DELETE FROM {UNIT_SCHEMA}.sales WHERE buyer = 1",
        f"INSERT INTO {UNIT_SCHEMA}.lines FROM {UNIT_SCHEMA}.lines LIMIT 1",
        """UPDATE "made of" SET "rows" = "rows" + 1""",
        """DELETE FROM "made of" WHERE name = 'lines'""",
        """DELETE FROM "made of" """,
    ],
)
def test_one_with_other_numbers_of_rows_is_not_used(ready: Schema, change: str) -> None:
    assert used(ready)
    with attached(sidecar_path(ready)) as connection:
        connection.execute(change)
    assert not used(ready)


def test_one_is_not_used_of_a_source_with_other_numbers_of_rows(ready: Schema) -> None:
    # As after a fingerprint that takes two versions for one.
    source = engine_source(ready)
    assert isinstance(source, DuckDBSource)
    stamped = sidecar_of(ready, lambda: fingerprint(source))
    with attached(file_source(ready).path) as connection:
        connection.execute("INSERT INTO lines VALUES (1, 'more')")
    with open_engine(engine_source(ready), sidecar=stamped) as engine:
        assert not engine.sidecar_tables


def test_one_whose_rows_would_not_be_there_once_is_not_made(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A sale whose key comes twice gives each of its lines two times, if it passes for a key.
    with attached(file_source(schema).path) as connection:
        connection.execute("INSERT INTO sales FROM sales WHERE sale = 1")
    monkeypatch.setattr("dpsql.session.sidecar.verify_keys", lambda *_: dict.fromkeys(ROWS, True))
    with (
        open_engine(engine_source(schema)) as engine,
        pytest.raises(SourceFault, match="lines can't be prepared"),
    ):
        prepare_source(schema, engine)
    assert not sidecar_path(schema).exists()


def test_one_of_a_source_that_changed_since_its_keys_were_verified_is_not_made(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    def then_changed(schema: Schema, engine: Engine) -> Mapping[str, bool]:
        found = verify_keys(schema, engine)
        engine.close()
        with attached(file_source(schema).path) as connection:
            connection.execute("INSERT INTO sales FROM sales WHERE sale = 1")
        return found

    monkeypatch.setattr("dpsql.session.sidecar.verify_keys", then_changed)
    with (
        open_engine(engine_source(schema)) as engine,
        pytest.raises(SourceFault, match="has changed"),
    ):
        prepare_source(schema, engine)
    assert not sidecar_path(schema).exists()


def used(schema: Schema) -> frozenset[str]:
    with open_source(schema) as engine:
        return engine.sidecar_tables
