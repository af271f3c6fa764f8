"""Columns of a sidecar whose compression is known are compressed so, whatever their values are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb
import pytest
from data.database import attached

from dpsql.engine.opening import open_engine
from dpsql.engine.sidecar import row_parts
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.sidecar import prepare_source, sidecar_path

SCHEMA: Final = """\
dataset: shop
source: shop.duckdb
units:
  buyer: {{table: buyers, key: buyer_id}}
tables:
  buyers:
    key: buyer_id
    unit: buyer
    columns: {{buyer_id: {{type: "{kind}"}}, name: {{type: varchar}}}}
  orders:
    key: order_id
    unit: {{column: buyer, references: buyers.buyer_id}}
    columns:
      order_id: {{type: bigint}}
      buyer: {{type: "{kind}"}}
      kind: {{type: varchar}}
      remark: {{type: varchar}}
      weight: {{type: hugeint}}
  lines:
    unit: {{column: order_id, references: orders.order_id}}
    columns: {{order_id: {{type: bigint}}}}
budget: {{epsilon: 1, accounting: pure}}
"""

TABLES: Final = """
CREATE TABLE buyers AS SELECT {unit} AS buyer_id, 'buyer ' || i AS name FROM range(50) r(i);
CREATE TABLE orders AS SELECT row_number() OVER () AS order_id, {unit} AS buyer,
  chr((97 + j % (1 + i % 3))::INTEGER) AS kind, (i::HUGEINT << 100) + j AS weight,
  CASE WHEN j = 5 AND i > 3 THEN NULL WHEN j = 6 THEN '' ELSE i || ' says ' || j || chr(0) END
  AS remark
FROM range(50) r(i), range({orders}) s(j) WHERE j < {orders} - i % 3 OR j = 0;
CREATE TABLE lines AS SELECT order_id FROM orders, range({orders});
"""

UNITS: Final = {"bigint": "i", "varchar": "'b' || i", "uuid": "md5(i::VARCHAR)::UUID"}


@pytest.mark.parametrize("kind", UNITS)
def test_what_a_unit_s_rows_have_alike_is_runs_and_texts_that_differ_are_zstd(
    tmp_path: Path, state_folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    del state_folder
    monkeypatch.setattr(row_parts, "FEW", 100)
    found = methods(tmp_path, kind, 12)
    alike = ("unit of the row", "rows of the unit")
    integers = alike if kind != "varchar" else alike[1:]
    for table in ("orders", "lines"):
        assert [found[f"{table}.{name}"] for name in integers] == [{"RLE"}] * len(integers)
    counts = [f"orders.values of {c} in the unit" for c in ("kind", "remark")]
    assert [found[name] for name in counts] == [{"RLE"}] * 2
    numbers = [
        *("orders.rows with kind", "orders.place of kind"),
        *("orders.rows with remark", "orders.place of remark"),
    ]
    assert set().union(*(found[name] for name in numbers)) == {"BitPacking", "Constant"}
    assert found["orders.remark"] == {"ZSTD"}
    assert "ZSTD" not in found["orders.kind"] | found["orders.weight"]
    assert "RLE" not in found["buyers.unit of the row"]


def test_where_units_have_few_rows_duckdb_chooses(tmp_path: Path, state_folder: Path) -> None:
    del state_folder
    found = methods(tmp_path, "bigint", 1)
    assert "RLE" not in found["lines.unit of the row"]


def methods(folder: Path, kind: str, orders: int) -> dict[str, set[str]]:
    """How each column of a file is compressed; the rows of its source are in it."""
    source = folder / "shop.duckdb"
    with attached(source) as connection:
        connection.execute(TABLES.format(unit=UNITS[kind], orders=orders))
    (folder / "schema.yaml").write_text(SCHEMA.format(kind=kind), encoding="utf-8")
    schema = load_schema(folder / "schema.yaml")
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine)
    with duckdb.connect(str(sidecar_path(schema)), read_only=True) as connection:
        connection.execute(f"ATTACH '{source}' AS source (READ_ONLY)")
        found: dict[str, set[str]] = {}
        for table in ("buyers", "orders", "lines"):
            own = ", ".join(
                f'"{name}"'
                for name, *_ in connection.execute(f"DESCRIBE source.{table}").fetchall()
            )
            wrong = f"FROM ((SELECT {own} FROM main.{table}) EXCEPT ALL (FROM source.{table}))"
            assert connection.execute(wrong).fetchall() == []
            for column, method in connection.execute(
                f"SELECT column_name, compression FROM pragma_storage_info('{table}')"
                " WHERE segment_type <> 'VALIDITY'"
            ).fetchall():
                found.setdefault(f"{table}.{column}", set()).add(method)
    return found
