"""pyqrlew, whose SQL runs on DuckDB.

It reads a catalogue, and how many rows there are, from a database that SQLAlchemy knows: SQLite,
with the same rows. Its SQL joins by the places of columns, so the tables have just those of the
catalogue.
That its events compose to more than the ε that was asked for is not set right here.
"""

from __future__ import annotations

import sqlite3
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import sqlalchemy
from benchmarks.peers.measured import (
    DELTA,
    EPSILON,
    LINES,
    ORDERS,
    SHAPES,
    Rows,
    clock_told,
    measured,
    show,
)
from pyqrlew import Dataset, Dialect

COLUMNS = {
    "customer": "c_custkey::BIGINT c_custkey, c_mktsegment",
    "orders": "o_orderkey::BIGINT o_orderkey, o_custkey::BIGINT o_custkey,"
    " o_totalprice::DOUBLE o_totalprice, o_clerk, o_orderpriority",
    "lineitem": "l_orderkey::BIGINT l_orderkey, l_quantity::DOUBLE l_quantity,"
    " l_extendedprice::DOUBLE l_extendedprice, l_discount::DOUBLE l_discount,"
    " l_returnflag, l_linestatus, strftime(l_shipdate, '%Y-%m') ship_month",
}
RANGES = {
    ("lineitem", "l_quantity"): (1.0, 50.0),
    ("lineitem", "l_extendedprice"): (900.0, 105_000.0),
    ("lineitem", "l_discount"): (0.0, 0.1),
    ("orders", "o_totalprice"): (0.0, 600_000.0),
}
VALUES = {
    ("lineitem", "l_returnflag"): ["A", "N", "R"],
    ("lineitem", "l_linestatus"): ["F", "O"],
    ("lineitem", "ship_month"): [f"{y}-{m:02}" for y in range(1992, 1999) for m in range(1, 13)],
    ("customer", "c_mktsegment"): [
        "AUTOMOBILE",
        "BUILDING",
        "FURNITURE",
        "HOUSEHOLD",
        "MACHINERY",
    ],
    ("orders", "o_orderpriority"): ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"],
}
UNITS = [
    ("customer", [], "c_custkey"),
    ("orders", [("o_custkey", "customer", "c_custkey")], "c_custkey"),
    (
        "lineitem",
        [("l_orderkey", "orders", "o_orderkey"), ("o_custkey", "customer", "c_custkey")],
        "c_custkey",
    ),
]
QUERIES = {
    "count": "SELECT count(*) AS n FROM lineitem",
    "flags": "SELECT l_returnflag, l_linestatus, count(*) AS n, sum(l_quantity) AS q,"
    " avg(l_extendedprice) AS p, sum(l_extendedprice * (1 - l_discount)) AS r FROM lineitem"
    " GROUP BY l_returnflag, l_linestatus",
    "segment": "SELECT c_mktsegment, count(*) AS n, sum(o_totalprice) AS s FROM orders"
    " JOIN customer ON o_custkey = c_custkey GROUP BY c_mktsegment",
    "month": "SELECT ship_month, sum(l_extendedprice * (1 - l_discount)) AS r FROM lineitem"
    " GROUP BY ship_month",
    "clerk": "SELECT o_clerk, count(*) AS n FROM orders GROUP BY o_clerk",
    "distinct": "SELECT o_orderpriority, count(DISTINCT o_custkey) AS n FROM orders"
    " GROUP BY o_orderpriority",
    "median": "SELECT o_orderpriority, median(o_totalprice) AS m FROM orders"
    " GROUP BY o_orderpriority",
}


def main() -> None:
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    connection = duckdb.connect()
    for table, columns in COLUMNS.items():
        file = folder / f"{table}.parquet"
        connection.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM '{file}'")
    with TemporaryDirectory() as place:
        data = dataset(connection, Path(place) / "catalogue.sqlite")

    def plain(sql: str) -> Rows:
        return connection.execute(sql).fetchall()

    def private(sql: str, _: int) -> Rows:
        budget = {"epsilon": EPSILON, "delta": DELTA}
        rows = float(LINES if "lineitem" in sql else ORDERS)
        relation = data.relation(sql).rewrite_with_differential_privacy(
            data, UNITS, budget, max_multiplicity=rows, max_multiplicity_share=1.0
        )
        rewritten = relation.relation().to_query(Dialect.PostgreSql)
        return connection.execute(rewritten).fetchall()

    show(
        [
            measured(
                shape,
                partial(plain, QUERIES[shape]),
                partial(private, QUERIES[shape]),
                runs,
                clock_told(),
            )
            for shape in SHAPES
        ]
    )


def dataset(connection: Any, path: Path) -> Any:
    """The tables of `connection` with their bounds, by way of a SQLite file."""
    with sqlite3.connect(path) as lite:
        for table in COLUMNS:
            described = connection.execute(f"FROM {table} LIMIT 0").description
            kinds = {"BIGINT": "INTEGER", "DOUBLE": "REAL"}
            columns = ", ".join(f"{c[0]} {kinds.get(str(c[1]), 'TEXT')}" for c in described)
            lite.execute(f"CREATE TABLE {table} ({columns})")
            marks = ", ".join("?" * len(described))
            cursor = connection.execute(f"FROM {table}")
            while rows := cursor.fetchmany(100_000):
                lite.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    found = Dataset.from_database("tpch", sqlalchemy.create_engine(f"sqlite:///{path}"))
    for (table, column), (low, high) in RANGES.items():
        found = found.with_range(None, table, column, low, high)
    for (table, column), values in VALUES.items():
        found = found.with_possible_values(None, table, column, values)
    return found


if __name__ == "__main__":
    main()
