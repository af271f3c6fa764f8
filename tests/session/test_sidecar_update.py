"""A sidecar of the data before, updated, is one that is made afresh of the data now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from data.database import attached
from neighbor_search.share import in_turn
from privacy.seeded import ReplayedRandomness

from dpsql.engine.opening import open_engine
from dpsql.engine.sidecar.ordering import compression
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.sidecar import is_prepared, prepare_source, sidecar_path

SALT = bytes(range(16))

SCHEMA = """\
dataset: shop
source: {source}
ledger: {ledger}
units: {{buyer: {{table: buyers, key: buyer}}}}
tables:
  buyers:
    key: buyer
    unit: buyer
    columns: {{buyer: {{type: bigint}}, age: {{type: integer, bounds: [0, 120]}}}}
  orders:
    key: number
    unit: {{column: buyer, references: buyers.buyer}}
    columns: {{number: {{type: bigint}}, buyer: {{type: bigint}}, kind: {{type: varchar}}}}
  lines:
    unit: {{column: number, references: orders.number}}
    limits: {{groups: 2, rows_per_group: 2, rows: 4}}
    columns:
      number: {{type: bigint}}
      price: {{type: "decimal(9,2)", bounds: [0, 9]}}
      weight: {{type: double, bounds: [0, 1]}}
      place: {{type: varchar}}
      day: {{type: date}}
budget: {{epsilon: 8, delta: 1.0e-6, accounting: zcdp}}
"""

BEFORE = """
CREATE TABLE buyers AS SELECT i AS buyer, CASE WHEN i > 0 THEN i % 90 END::INTEGER AS age
FROM range(60) r(i);
CREATE TABLE orders AS SELECT i AS number, i % 61 AS buyer, chr((97 + i % 3)::INTEGER) AS kind
FROM range(180) r(i);
CREATE TABLE lines AS SELECT i % 190 AS number, (i % 11)::DECIMAL(9, 2) AS price, i / 700 AS weight,
  CASE WHEN i % 12 > 0 THEN 'place ' || i % 12 END AS place,
  DATE '2026-01-01' + (i % 5)::INTEGER AS day FROM range(600) r(i);
"""

CHANGES = {
    "rows of units that have some": "INSERT INTO lines FROM lines WHERE number IN (3, 7)",
    "units that are new": "INSERT INTO buyers VALUES (100, 30), (101, NULL);"
    "INSERT INTO orders VALUES (1000, 100, 'a'), (1001, 101, NULL), (1002, NULL, 'b')",
    "rows of new orders": "INSERT INTO lines SELECT 1000 + i % 3, i % 5, 0.5, 'new ' || i, NULL"
    " FROM range(12) r(i)",
    "a value beyond its bounds": "INSERT INTO lines VALUES (5, 99, 7, NULL, NULL)",
    "none beyond its bounds": "DELETE FROM lines WHERE price = 99",
    "a row that is another": "UPDATE lines SET place = 'elsewhere' WHERE number = 11",
    "an order that is another's": "UPDATE orders SET buyer = 2 WHERE number = 20",
    "a unit that left": "DELETE FROM buyers WHERE buyer = 17;"
    "DELETE FROM lines WHERE number % 61 = 17; DELETE FROM orders WHERE buyer = 17",
    "a zero that is negative": "DELETE FROM lines WHERE weight = 0;"  # UPDATE takes it for 0
    "INSERT INTO lines VALUES (0, 0, '-0'::DOUBLE, NULL, DATE '2026-01-01')",
    "no number": "UPDATE lines SET weight = 'nan' WHERE number = 13",
    "a table that isn't declared": "CREATE OR REPLACE TABLE unrelated AS SELECT 1 AS x",
}


class Shop:
    """A source that changes, with a sidecar that is updated."""

    def __init__(self, folder: Path, *, is_parquet: bool = False) -> None:
        self.folder, self.is_parquet = folder, is_parquet
        self.change(BEFORE)

    def change(self, sql: str) -> None:
        with attached(self.folder / "shop.duckdb") as connection:
            connection.execute(sql)
            if self.is_parquet:
                (self.folder / "data").mkdir(exist_ok=True)
                for name in ("buyers", "orders", "lines"):
                    connection.execute(f"COPY {name} TO '{self.folder}/data/{name}.parquet'")

    def schema(self, ledger: str) -> Schema:
        path = self.folder / f"{ledger}.yaml"
        source = "data" if self.is_parquet else "shop.duckdb"
        path.write_text(SCHEMA.format(source=source, ledger=f"{ledger}.db"), encoding="utf-8")
        return load_schema(path)


def prepare(schema: Schema, salt: bytes = SALT) -> list[str]:
    steps: list[str] = []
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine, steps.append, ReplayedRandomness(salt))
    assert is_prepared(schema)
    return steps


def is_update(steps: Sequence[str]) -> bool:
    """Whether rows that stayed weren't made again; an update that fails is followed by that."""
    lines = "counting and sorting the rows of lines"
    return f"{lines} that are new" in steps and lines not in steps


def stored(schema: Schema) -> dict[str, list[str]]:
    """All rows of the file in some order."""
    found = {}
    with duckdb.connect(str(sidecar_path(schema)), read_only=True) as connection:
        for space, name in connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables()"
            " WHERE NOT starts_with(table_name, 'made ')"
        ).fetchall():
            rows = connection.execute(f'FROM "{space}"."{name}"').fetchall()
            found[f"{space}.{name}"] = sorted(map(repr, rows))
    return found


@pytest.mark.parametrize("many_texts", in_turn((("many", (True,)), ("few", (False,))), 2))
def test_after_changes_it_has_what_one_that_is_made_afresh_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, many_texts: bool
) -> None:
    # So few rows have few texts: they are compressed as if they were many.
    monkeypatch.setattr(compression, "_are_many", lambda _: many_texts)
    changes = [*CHANGES.values()]
    follow(Shop(tmp_path), [";".join(changes[n::3]) for n in range(3)])


@pytest.mark.slow
@pytest.mark.parametrize("is_parquet", [False, True], ids=["database", "folder"])
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_after_each_change_it_has_what_one_that_is_made_afresh_has(
    tmp_path: Path, *, is_parquet: bool, order: int
) -> None:
    follow(Shop(tmp_path, is_parquet=is_parquet), [*CHANGES.values()][::order])


def follow(shop: Shop, changes: Sequence[str]) -> None:
    """Update a sidecar after each change, and compare it with one that is made afresh."""
    updated, afresh = shop.schema("updated"), shop.schema("afresh")
    assert not is_update(prepare(updated))
    for change in changes:
        shop.change(change)
        if is_prepared(updated):
            continue  # no file of a folder has changed
        # Another salt is handed in: that of the file stays.
        assert is_update(prepare(updated, SALT[::-1])), change
        sidecar_path(afresh).unlink(missing_ok=True)
        assert not is_update(prepare(afresh))
        assert stored(updated) == stored(afresh), change


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE buyers SET age = 30 WHERE buyer = 0",
        "UPDATE orders SET kind = 'kind ' || number WHERE number < 9",
    ],
    ids=["none beyond its bounds any more", "more than few values"],
)
def test_where_something_else_is_said_of_a_whole_table_it_is_made_afresh(
    tmp_path: Path, change: str
) -> None:
    shop = Shop(tmp_path)
    updated, afresh = shop.schema("updated"), shop.schema("afresh")
    prepare(updated)
    before = stored(updated)
    shop.change(change)
    assert not is_update(prepare(updated, SALT[::-1]))
    prepare(afresh)
    assert stored(updated) == stored(afresh) != before


def test_of_a_table_without_rows_nothing_is_said_that_its_first_rows_could_belie(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    updated, afresh = shop.schema("updated"), shop.schema("afresh")
    shop.change("DELETE FROM lines")
    prepare(updated)
    shop.change("INSERT INTO orders VALUES (1000, 3, 'a')")
    assert is_update(prepare(updated)), "a table that stays empty is no reason to begin afresh"
    shop.change("INSERT INTO lines VALUES (5, 99, 7, NULL, NULL)")
    prepare(updated)
    prepare(afresh)
    assert stored(updated) == stored(afresh)


def test_where_much_has_changed_it_is_made_afresh_with_the_same_salt(tmp_path: Path) -> None:
    # Whether it is depends on private rows, and which groups of a unit count must not.
    shop = Shop(tmp_path)
    updated, afresh = shop.schema("updated"), shop.schema("afresh")
    prepare(updated)
    shop.change("UPDATE lines SET place = place || '!'")
    assert not is_update(prepare(updated, SALT[::-1]))
    prepare(afresh)
    assert stored(updated) == stored(afresh)


def test_of_the_same_data_it_is_made_afresh(tmp_path: Path) -> None:
    schema = Shop(tmp_path).schema("updated")
    prepare(schema)
    with attached(sidecar_path(schema)) as connection:
        connection.execute("UPDATE lines SET price = 1")
    spoilt = stored(schema)
    assert not is_update(prepare(schema))
    assert stored(schema) != spoilt


def test_after_many_updates_it_is_made_afresh_in_order(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    schema = shop.schema("updated")
    prepare(schema)
    updates = []
    for _ in range(4):  # some 80 of 840 rows are of these eight units
        shop.change("INSERT INTO lines SELECT i, 1, 0.5, 'x', NULL FROM range(8) r(i)")
        updates.append(is_update(prepare(schema)))
    assert updates == [True, True, False, True]


@pytest.mark.parametrize(
    "spoil",
    [
        "DROP TABLE digests.lines",
        "DELETE FROM lines WHERE number = 9",
        "INSERT INTO units.lines FROM units.lines LIMIT 1",
        'DROP TABLE "made by"',
    ],
)
def test_what_can_not_be_updated_is_made_afresh(tmp_path: Path, spoil: str) -> None:
    shop = Shop(tmp_path)
    updated, afresh = shop.schema("updated"), shop.schema("afresh")
    prepare(updated)
    with attached(sidecar_path(updated)) as connection:
        connection.execute(spoil)
    shop.change(CHANGES["rows of units that have some"])
    prepare(updated)
    prepare(afresh)
    assert stored(updated) == stored(afresh)


def test_one_of_other_bounds_is_made_afresh(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    prepare(shop.schema("updated"))
    path = tmp_path / "updated.yaml"
    path.write_text(path.read_text().replace("[0, 9]", "[0, 8]"), encoding="utf-8")
    shop.change(CHANGES["rows of units that have some"])
    assert not is_update(prepare(load_schema(path)))
