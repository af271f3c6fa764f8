"""How many parts of the units a statement is run for: more where it reads many rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.database import attached
from notes.compiler import prepared
from privacy.seeded import SeededRandomness
from session.jobs import job_of

from dpsql.audit.databases.synthetic_engine import WorldEngine
from dpsql.engine.opening import open_engine
from dpsql.errors import ExecutionFailed
from dpsql.physical.engine_query import emit_query
from dpsql.physical.modifier import unit_batches
from dpsql.release.batch_count import batch_count
from dpsql.release.job import run
from dpsql.structs import replace

FLAGS = "SELECT l_returnflag, sum(l_quantity) FROM lineitem{} GROUP BY 1"
PRICES = "SELECT l_extendedprice, count(*) FROM lineitem{} GROUP BY 1"
DAYS = "SELECT l_shipdate, count(*) FROM lineitem{} GROUP BY 1"
SUPPLIERS = "SELECT l_returnflag, count(DISTINCT l_suppkey) FROM lineitem{} GROUP BY 1"
NUMBERS = """SELECT number, count(*) FROM (
    SELECT c_custkey, {} AS number FROM customer LEFT JOIN orders ON c_custkey = o_custkey
    GROUP BY c_custkey) GROUP BY 1"""
YEAR = " WHERE l_shipdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31'"
PART = " JOIN part ON l_partkey = p_partkey"
MILLION = 1_000_000


class _Large(WorldEngine):
    """An engine of which nothing is asked but how many rows there are: as TPC-H has them."""

    def __init__(self, rows: int) -> None:
        self._rows = {"lineitem": rows, "orders": rows // 4, "customer": rows // 40}

    def row_count_for_planning(self, table: str) -> int:
        return self._rows[table]


@pytest.mark.parametrize(
    ("sql", "conditions", "millions", "number"),
    [
        (FLAGS, "", 0, 1),
        (FLAGS, "", 7, 1),
        (FLAGS, "", 8, 2),
        (FLAGS, "", 60, 4),
        (FLAGS, "", 600, 18),
        (FLAGS, YEAR, 60, 2),
        (FLAGS, f"{YEAR} AND l_comment LIKE '%x%'", 60, 1),
        (FLAGS, " WHERE l_tax < l_discount", 60, 3),
        (FLAGS, PART, 60, 4),
        (FLAGS, f"{PART} AND p_size > 40", 60, 3),
        (PRICES, "", 0, 1),
        (PRICES, "", 1, 2),
        (PRICES, "", 3, 6),
        (PRICES, "", 60, 8),
        (PRICES, "", 600, 18),
        (DAYS, "", 60, 8),
        (SUPPLIERS, "", 600, 1),
        # A number of each of fifteen million customers waits, not of their orders.
        (NUMBERS, "count(o_orderkey)", 60, 1),
        (NUMBERS, "count(o_orderkey)", 600, 3),
        (NUMBERS, "count(DISTINCT o_clerk)", 60, 3),
    ],
)
def test_parts_are_worth_their_rows(sql: str, conditions: str, millions: int, number: int) -> None:
    (release,) = prepared(sql.format(conditions), "tpch", frozenset()).releases
    batches = release.step.batches
    assert (batches is None) == (sql == SUPPLIERS)
    if batches is not None:
        assert batch_count(batches.policy, _Large(millions * MILLION)) == number


SCHEMA = """\
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    limits: {groups: 2, rows_per_group: 2}
    columns: {buyer: {type: bigint}, item: {type: varchar}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""


def test_what_memory_does_not_hold_at_once_is_found_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE buyers AS SELECT i AS buyer FROM range(100000) r(i)")
        connection.execute(
            "CREATE TABLE sales AS SELECT i % 100000 AS buyer, 'item ' || hash(i) % 1000 AS item"
            " FROM range(800000) r(i)"
        )
    for name in ("MANY_ROWS_PER_BATCH", "FEW_ROWS_PER_BATCH"):
        monkeypatch.setattr(unit_batches, name, (100_000, 8))
    job = job_of("SELECT item, count(*) FROM sales GROUP BY item", SCHEMA, tmp_path)
    at_once = replace(job, steps=tuple(replace(step, batches=None) for step in job.steps))
    with open_engine(job.source, threads=1, memory_limit="32MB") as engine:
        with pytest.raises(ExecutionFailed):
            run(at_once, engine, SeededRandomness("parts"))
        assert run(job, engine, SeededRandomness("parts"))


@pytest.mark.parametrize(
    "sql",
    [
        FLAGS.format(PART),
        PRICES.format(PART),
        DAYS.format(""),
        # The texts that stand for rows while a statement is written are no words of ours.
        FLAGS.format(""" WHERE l_comment = 'SELECT * FROM "rows 0"'"""),
        FLAGS.format(""" WHERE l_comment = 'rows 0' OR l_comment = 'SELECT * FROM "rows 1"'"""),
        "SELECT median(l_quantity) FROM lineitem WHERE l_comment = 'SELECT * FROM \"rows 1\"'",
    ],
)
def test_both_statements_of_one_tree_are_those_of_a_tree_of_their_own(sql: str) -> None:
    (release,) = prepared(sql, "tpch", frozenset()).releases
    plan, limited, batches = release.choice.plan, release.choice.limited, release.step.batches
    assert batches is not None
    assert release.step.query == emit_query(plan, limited, {})
    assert batches.query == emit_query(plan, limited, {}, in_batches=True)
