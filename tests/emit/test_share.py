"""A share of a unit's sum is the same integer in 64 bits as in 128, and truncated toward 0."""

from __future__ import annotations

from itertools import product

import duckdb
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import integer, share

TOTALS = [0, 1, -1, 7, -7, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**63, 2**64, 10**28, -(10**28)]
ROWS = [(30, 31), (30, 2**31), (1, 2), (7, 3), (2**31, 2**31 + 1)]


def test_a_share_is_exact_whatever_its_size() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (s HUGEINT, n BIGINT)")
        for part in {part for part, _ in ROWS}:
            found = [(s, n) for s, (own, n) in product(TOTALS, ROWS) if own == part]
            connection.execute("DELETE FROM t")
            connection.executemany("INSERT INTO t VALUES (?, ?)", found)
            text = rendered(share(exp.column("s"), integer(part), exp.column("n")))
            rows = connection.execute(f"SELECT s, n, {text} FROM t").fetchall()
            for s, n, shared in rows:
                quotient = abs(s) * part // n
                assert shared == (quotient if s >= 0 else -quotient)
            assert len(rows) == len(found)
