"""A verified key of a table isn't one of what a scan over hops makes of it: parents may repeat."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.database import attached

from dpsql.engine.opening import open_engine
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.split_in_group_by import SplitInGroupBy
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source

SCHEMA = """\
dataset: shop
source: shop.duckdb
ledger: shop.ledger
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    key: sale
    unit: {column: buyer, references: buyers.buyer}
    limits: {groups: 3, rows_per_group: 60}
    columns:
      sale: {type: bigint}
      buyer: {type: bigint}
      kind: {type: varchar, values: [a, b]}
      line: {type: bigint}
  lines:
    key: line
    unit: {column: sale, references: sales.sale}
    limits: {groups: 3, rows_per_group: 60}
    columns: {line: {type: bigint}, sale: {type: bigint}, price: {type: integer, bounds: [0, 9]}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

JOINED = """SELECT kind, count(*) FROM sales s JOIN (SELECT * FROM lines) l
ON s.sale = l.sale AND s.line = l.line GROUP BY 1"""


def made(folder: Path, sales_of_one: int) -> Schema:
    """One buyer's sales, all of one key; there is one line of it, whose own key holds."""
    folder.mkdir()
    with attached(folder / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE buyers AS SELECT i AS buyer FROM range(5) r(i)")
        connection.execute(
            "CREATE TABLE sales AS SELECT 0::BIGINT AS sale, 1::BIGINT AS buyer, 'a' AS kind,"
            f" 7::BIGINT AS line FROM range({sales_of_one})"
        )
        connection.execute("CREATE TABLE lines AS SELECT 7::BIGINT line, 0::BIGINT sale, 1 price")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    schema = load_schema(folder / "schema.yaml")
    with open_engine(engine_source(schema)) as engine:
        assert {"buyers", "sales"} <= {*prepare_source(schema, engine)}
    return schema


def release(schema: Schema, sql: str) -> CompiledRelease:
    session = Session(schema)
    (found,) = session.compile(sql).releases
    session.close()
    return found


def counted(schema: Schema, found: CompiledRelease) -> int:
    query = found.step.query
    tables = {domain.name: domain_table(domain) for domain in query.domains}
    with open_source(schema) as engine:
        rows = engine.execute(query.sql, ["1"] * query.salted, tables).table
    return sum(map(int, rows.column("s0").to_pylist()))


@pytest.mark.parametrize("sql", [JOINED, JOINED.replace("(SELECT * FROM lines)", "lines")])
def test_one_unit_changes_no_more_than_derived(tmp_path: Path, sql: str) -> None:
    # Each of 40 sales meets the line 40 times, as often as it is the line's: 1,600 rows.
    full, less = made(tmp_path / "full", 40), made(tmp_path / "less", 0)
    found, other = release(full, sql), release(less, sql)
    (most,) = found.sensitivity.per_group
    assert other.sensitivity.per_group == (most,)
    assert abs(counted(full, found) - counted(less, found)) <= most
    assert not isinstance(found.choice.plan, SplitByContribution | SplitInGroupBy)


def test_a_key_over_hops_whose_keys_hold_is_one(tmp_path: Path) -> None:
    found = release(made(tmp_path / "full", 1), JOINED)
    assert isinstance(found.choice.plan, SplitInGroupBy)
