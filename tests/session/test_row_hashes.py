"""A sidecar's hash of a row mixes all of its values, the last one as the others."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from privacy.seeded import ReplayedRandomness

from dpsql.engine.opening import open_engine
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.sidecar import prepare_source, sidecar_path

SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    columns: {buyer: {type: bigint}, kind: {type: varchar}, size: {type: integer}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

UNITS = 3000


def _shop(folder: Path, sales: str) -> Schema:
    with duckdb.connect(folder / "shop.duckdb") as connection:
        connection.execute(f"CREATE TABLE buyers AS SELECT i AS buyer FROM range({UNITS}) r(i)")
        connection.execute(f"CREATE TABLE sales AS {sales}")
    path = folder / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return load_schema(path)


def _prepare(schema: Schema, steps: list[str]) -> None:
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine, steps.append, ReplayedRandomness(bytes(range(16))))


@pytest.mark.parametrize("sizes", [[1, 2, 3, 4, 5], [10, 20, 30, 40, 50, 60]])
def test_each_of_a_units_rows_is_as_likely_the_first(tmp_path: Path, sizes: list[int]) -> None:
    # Each of so many numbers is 7.5 deviations from its mean with a probability below 10^-12. The
    # salt is fixed. By DuckDB's hash of several values 3 was first half as often as 1.
    schema = _shop(
        tmp_path,
        f"SELECT i AS buyer, 'all' AS kind, unnest({sizes})::INTEGER AS size"
        f" FROM range({UNITS}) r(i)",
    )
    _prepare(schema, [])
    with duckdb.connect(sidecar_path(schema), read_only=True) as connection:
        first = dict(
            connection.execute(
                'SELECT size, count(*) FROM sales WHERE "number with kind" = 1 GROUP BY 1'
            ).fetchall()
        )
    mean = UNITS / len(sizes)
    deviation = (mean * (1 - 1 / len(sizes))) ** 0.5
    assert {size: abs(first[size] - mean) < 7.5 * deviation for size in sizes} == dict.fromkeys(
        sizes, True
    )


def test_values_that_change_places_are_found_in_each_unit(tmp_path: Path) -> None:
    # DuckDB's hashes of these two differ in four of the lower 63 bits. If a row's hash were that of
    # its other values XOR the last one's, 1 in 16 units would have the sum of hashes of before.
    one, other = 1371322, 1661849
    schema = _shop(
        tmp_path,
        f"SELECT i AS buyer, 'a' AS kind, {one}::INTEGER AS size FROM range(300) r(i) UNION ALL"
        f" SELECT i, 'b', {other}::INTEGER FROM range(300) r(i) UNION ALL"
        f" SELECT 300 + i % 2700, 'c', i::INTEGER FROM range(5400) r(i)",
    )
    _prepare(schema, [])
    with duckdb.connect(tmp_path / "shop.duckdb") as connection:
        swapped = f"CASE size WHEN {one} THEN {other} ELSE {one} END"
        connection.execute(f"UPDATE sales SET size = {swapped} WHERE buyer < 300")
    steps: list[str] = []
    _prepare(schema, steps)
    assert "counting and sorting the rows of sales that are new" in steps, "it was updated"
    with duckdb.connect(sidecar_path(schema), read_only=True) as connection:
        ((stale,),) = connection.execute(
            f"SELECT count(*) FROM sales WHERE kind = 'a' AND size = {one}"
        ).fetchall()
    assert stale == 0
