"""A sidecar's rows are joined with one column's counts after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from dpsql.engine.sidecar import file
from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR, UNIT_SCHEMA
from dpsql.engine.sidecar.range_check import range_check
from dpsql.engine.sidecar.row_columns import statements
from dpsql.engine.source import DuckDBSource
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.sidecar import sidecar_tables

SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    columns: {buyer: {type: bigint}, kind: {type: varchar}, place: {type: varchar}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""


def test_counts_of_two_columns_never_meet_by_their_unit_alone(tmp_path: Path) -> None:
    # Of one unit with a thousand values of either column, they would be a million pairs.
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE buyers AS SELECT i AS buyer FROM range(40) r(i)")
        connection.execute(
            "CREATE TABLE sales AS SELECT i % 40 AS buyer, (i % 7)::VARCHAR AS kind,"
            " (i % 5)::VARCHAR AS place FROM range(50000) r(i)"
        )
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    schema = load_schema(tmp_path / "schema.yaml")
    source = engine_source(schema)
    assert isinstance(source, DuckDBSource)
    (sales,) = (t for t in sidecar_tables(schema, frozenset(["buyers"])) if t.name == "sales")
    rows, units = (
        exp.table_(sales.name, db=space, catalog=SIDECAR, quoted=True)
        for space in (ROW_SCHEMA, UNIT_SCHEMA)
    )
    plans = []
    with file._opened(source, tmp_path / "made") as connection:
        connection.execute(f'CREATE SCHEMA "{SIDECAR}".{UNIT_SCHEMA}')
        connection.execute(range_check(sales))
        for statement in statements(sales, rows, units, "salt", "true", adds=False):
            if statement.startswith(f"CREATE TABLE {rows.sql('duckdb')}"):
                ((_, plan),) = connection.execute(f"EXPLAIN (FORMAT json) {statement}").fetchall()
                plans += json.loads(plan)
            connection.execute(statement)
    joins = [node for plan in plans for node in nodes(plan) if node["name"] == "HASH_JOIN"]
    assert len(joins) == 3  # with units, kinds and places
    assert all("rows with units" in json.dumps(join) for join in joins)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan["children"]:
        yield from nodes(child)
