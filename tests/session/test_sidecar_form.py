"""The names in a sidecar's file are read by later versions, which know it by its form's number."""

from __future__ import annotations

from pathlib import Path

import duckdb
from data.database import attached

from dpsql.engine.opening import open_engine
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session import sidecar

SCHEMA = """\
dataset: shop
source: shop.duckdb
units:
  buyer: {table: buyers, key: buyer_id}
tables:
  buyers:
    key: buyer_id
    unit: buyer
    columns:
      buyer_id: {type: bigint}
      age: {type: integer, bounds: [0, 120]}
  orders:
    key: order_id
    unit: {column: buyer, references: buyers.buyer_id}
    columns:
      order_id: {type: bigint}
      buyer: {type: bigint}
      kind: {type: varchar, values: [a, b]}
      day: {type: date, bounds: [2020-01-01, 2021-12-31]}
  lines:
    unit: {column: order_id, references: orders.order_id}
    columns:
      order_id: {type: bigint}
      price: {type: "decimal(10,2)", bounds: [0, 100]}
budget: {epsilon: 1, accounting: pure}
"""

FORM = "16"

DIGEST = ["unit of the row", "rows", "digest"]

UNIT = ["unit of the row", "rows of the unit"]

NAMES = {
    "main.made of": ["stamp", "name", "source", "rows", "units"],
    "main.buyers": ["buyer_id", "age", *UNIT, "beyond bounds of age"],
    "main.orders": [
        *("order_id", "buyer", "kind", "day", *UNIT),
        *("rows with kind", "place of kind", "values of kind in the unit", "number with kind"),
        *("rows with month of day", "place of month of day", "many values of kind"),
    ],
    "main.lines": ["order_id", "price", *UNIT, "beyond bounds of price", "buyer"],
    "main.made by": ["form", "salt", "renewed"],
    **{f"digests.{name}": DIGEST for name in ("buyers", "orders", "lines")},
    "units.orders": ["buyer", *UNIT],
    "units.lines": ["buyer", *UNIT, "values of price", "sum of price"],
}
"""By each table of the file, its columns. If they change, so does the number of the form."""


def test_a_file_of_one_form_has_these_names(tmp_path: Path, state_folder: Path) -> None:
    del state_folder
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE buyers AS SELECT 1::BIGINT buyer_id, 30::INT age")
        connection.execute(
            "CREATE TABLE orders AS SELECT 1::BIGINT order_id, 1::BIGINT buyer, 'a' kind,"
            " DATE '2020-02-29' AS day"
        )
        connection.execute(
            "CREATE TABLE lines AS SELECT 1::BIGINT order_id, 1.5::DECIMAL(10,2) price"
        )
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    schema = load_schema(tmp_path / "schema.yaml")
    with open_engine(engine_source(schema)) as engine:
        sidecar.prepare_source(schema, engine)
    with duckdb.connect(str(sidecar.sidecar_path(schema)), read_only=True) as connection:
        found = connection.execute(
            "SELECT schema_name || '.' || table_name, list(column_name ORDER BY column_index)"
            " FROM duckdb_columns() WHERE NOT internal GROUP BY ALL ORDER BY 1"
        ).fetchall()
    assert (sidecar._FORMAT, dict(found)) == (FORM, NAMES)
