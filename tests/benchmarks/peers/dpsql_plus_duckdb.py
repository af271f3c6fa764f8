"""DPSQL+ on DuckDB: whole answers, as of the others, under the same limits.

What it is asked is in `dpsql_plus_shapes`. Its backend computes in memory, over doubles; its parser
and its accountant, which take some milliseconds, aren't timed.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import duckdb
from benchmarks.peers.dpsql_plus_shapes import ASKED, Asked, answer
from benchmarks.peers.measured import LINES, ORDERS, Rows, clock_told, measured, show
from dpsql.backend import DuckDBBackend

TABLES: Final = """
CREATE TABLE lines AS SELECT o_custkey, l_returnflag, l_linestatus, l_quantity::DOUBLE l_quantity,
  l_extendedprice::DOUBLE l_extendedprice, l_discount::DOUBLE l_discount, l_shipdate
  FROM '{0}/lineitem.parquet' JOIN '{0}/orders.parquet' ON l_orderkey = o_orderkey;
CREATE TABLE orders AS SELECT o_custkey, o_totalprice::DOUBLE o_totalprice, o_clerk, o_orderpriority
  FROM '{0}/orders.parquet';
CREATE TABLE customer AS SELECT c_custkey, c_mktsegment FROM '{0}/customer.parquet';
"""
MONTHS: Final = {"ship_month": "date_trunc('month', l_shipdate)"}


def main() -> None:
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    connection = duckdb.connect()
    connection.execute(TABLES.format(folder))
    backend, found = DuckDBBackend(connection), list[dict[str, object]]()
    for shape, each in ASKED.items():
        asked = replace(each, keys=MONTHS) if shape == "month" else each
        limit = LINES if asked.tables == "lines" else ORDERS
        private = partial(_private, backend, asked, limit)
        plain = partial(_plain, connection, asked.plain)
        found.append(measured(shape, plain, private, runs, clock_told()))
    show([*found, {"shape": "median", "refused": "it has no median"}])


def _plain(connection: duckdb.DuckDBPyConnection, sql: str) -> Rows:
    return connection.execute(sql).fetchall()


def _private(backend: DuckDBBackend, asked: Asked, limit: int, _: int) -> Rows:
    return answer(backend, asked, limit)


if __name__ == "__main__":
    main()
