"""What is measured: TPC-H's answered queries, and shapes that stress one thing each."""

from __future__ import annotations

from collections.abc import Mapping

from differential.classes import EXACT, LISTS_INDIVIDUALS
from differential.statement import tpch

SHAPES: Mapping[str, str] = {
    "count": "SELECT count(*) FROM lineitem",
    "flags": "SELECT l_returnflag, l_linestatus, count(*), sum(l_quantity), avg(l_extendedprice),"
    " sum(l_extendedprice * (1 - l_discount)) FROM lineitem GROUP BY 1, 2",
    "segment": "SELECT c_mktsegment, count(*), sum(o_totalprice) FROM orders JOIN customer"
    " ON o_custkey = c_custkey GROUP BY 1",
    "month": "SELECT date_trunc('month', l_shipdate), sum(l_extendedprice * (1 - l_discount))"
    " FROM lineitem GROUP BY 1",
    "clerk": "SELECT o_clerk, count(*) FROM orders GROUP BY 1",
    "part": "SELECT l_partkey, count(*) FROM lineitem GROUP BY 1",
    "distinct": "SELECT o_orderpriority, count(DISTINCT o_custkey) FROM orders GROUP BY 1",
    "median": "SELECT o_orderpriority, median(o_totalprice) FROM orders GROUP BY 1",
}


def queries() -> dict[str, str]:
    """The shapes, then TPC-H's queries that read private rows and are answered."""
    found = dict(SHAPES)
    for number, statement in sorted(tpch().items()):
        if number not in (*EXACT, *LISTS_INDIVIDUALS):
            found[f"Q{number}"] = statement.sql.rstrip().rstrip(";")
    return found
