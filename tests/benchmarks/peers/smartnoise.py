"""smartnoise-sql on DuckDB, for which it has no reader: PostgreSQL's is given DuckDB's connection.

It knows neither joins nor expressions in aggregates, so the tables are joined and the expressions
computed beforehand, which isn't timed. Money is in hundreds, since it refuses noise whose scale
passes ten million. Its ε is for each column, a mean being two of them: each gets its part of the
whole, `flags` a fifth. Keys that dpsql's schema lists are shown as they are; those of `clerk` are
not listed, and appear by its noisy counts of customers, for which it spends ε as for a column.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
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
from snsql import Privacy
from snsql.metadata import Metadata
from snsql.sql.private_reader import PrivateReader
from snsql.sql.reader.postgres import PostgresReader

TABLES = """
CREATE TABLE lines AS SELECT o_custkey, l_returnflag, l_linestatus, l_quantity::BIGINT l_quantity,
  l_extendedprice::DOUBLE / 100 l_extendedprice,
  (l_extendedprice * (1 - l_discount))::DOUBLE / 100 revenue,
  date_trunc('month', l_shipdate)::DATE::VARCHAR ship_month
  FROM '{0}/lineitem.parquet' JOIN '{0}/orders.parquet' ON l_orderkey = o_orderkey;
CREATE TABLE bought AS SELECT o_custkey, c_mktsegment, o_totalprice::DOUBLE / 100 o_totalprice,
  o_clerk, o_orderpriority
  FROM '{0}/orders.parquet' JOIN '{0}/customer.parquet' ON c_custkey = o_custkey;
"""

QUERIES = {
    "count": "SELECT count(*) AS n FROM main.lines",
    "flags": "SELECT l_returnflag, l_linestatus, count(*) AS n, sum(l_quantity) AS q,"
    " avg(l_extendedprice) AS p, sum(revenue) AS r FROM main.lines"
    " GROUP BY l_returnflag, l_linestatus",
    "segment": "SELECT c_mktsegment, count(*) AS n, sum(o_totalprice) AS s FROM main.bought"
    " GROUP BY c_mktsegment",
    "month": "SELECT ship_month, sum(revenue) AS r FROM main.lines GROUP BY ship_month",
    "clerk": "SELECT o_clerk, count(*) AS n FROM main.bought GROUP BY o_clerk",
    "distinct": "SELECT o_orderpriority, count(DISTINCT o_custkey) AS n FROM main.bought"
    " GROUP BY o_orderpriority",
    "median": "SELECT o_orderpriority, median(o_totalprice) AS m FROM main.bought"
    " GROUP BY o_orderpriority",
}


class Reader(PostgresReader):  # type: ignore[misc]  # it is in an environment of its own
    """Hands its SQL to DuckDB."""

    def execute(self, query: str, *_: object, accuracy: bool = False) -> list[Any]:
        """Names, then rows."""
        del accuracy
        found = self.conn.execute(str(query))
        return [tuple(column[0] for column in found.description), *found.fetchall()]


UNLISTED = frozenset({"clerk"})
"""Shapes whose keys have to be chosen."""


def number(low: float, high: int, kind: str = "float") -> dict[str, object]:
    return {"type": kind, "lower": low, "upper": high}


def metadata(shape: str) -> Any:
    text, owner = {"type": "string"}, {"type": "int", "private_id": True}
    limits = {"censor_dims": shape in UNLISTED, "sample_max_ids": True}
    lines = {
        "o_custkey": owner,
        "l_returnflag": text,
        "l_linestatus": text,
        "l_quantity": number(1, 50, "int"),
        "l_extendedprice": number(9, 1_050),
        "revenue": number(8.1, 1_050),
        "ship_month": text,
    }
    bought = {
        "o_custkey": owner,
        "c_mktsegment": text,
        "o_totalprice": number(0, 6_000),
        "o_clerk": text,
        "o_orderpriority": text,
    }
    tables = {
        "lines": {"max_ids": LINES, **limits, **lines},
        "bought": {"max_ids": ORDERS, **limits, **bought},
    }
    return Metadata.from_dict({"": {"main": tables}})


def main() -> None:
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    connection = duckdb.connect()
    connection.execute(TABLES.format(folder))

    def reader(shape: str, epsilon: float) -> Any:
        privacy = Privacy(epsilon=epsilon, delta=DELTA)
        return PrivateReader(Reader(conn=connection), metadata(shape), privacy=privacy)

    def plain(sql: str) -> Rows:
        return connection.execute(sql).fetchall()

    def private(shape: str, _: int) -> Rows:
        sql = QUERIES[shape]
        columns, _ = reader(shape, 1.0).get_privacy_cost(sql)
        return list(reader(shape, EPSILON / columns).execute(sql)[1:])

    show(
        [
            measured(
                shape,
                partial(plain, QUERIES[shape]),
                partial(private, shape),
                runs,
                clock_told(),
            )
            for shape in SHAPES
        ]
    )


if __name__ == "__main__":
    main()
