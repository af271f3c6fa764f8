"""A share of a unit's sum is the same integer in 64 bits as in 128, and truncated toward 0."""

from __future__ import annotations

from itertools import product

import pytest
from data.database import attached
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import integer, share

TOTALS = [
    *(0, 7, -7, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**63, 2**64, 10**28, -(10**28)),
    *(sign * (10**digits + d) for digits in range(19) for d in (-1, 0, 1) for sign in (1, -1)),
]
ROWS = [(30, 31), (30, 2**31), (99, 100), (1, 2), (7, 3), (2**31, 2**31 + 1), (10**9, 10**9 + 1)]


def test_a_share_is_exact_whatever_its_size() -> None:
    with attached() as connection:
        connection.execute("CREATE TABLE t (s HUGEINT, n BIGINT)")
        for part in {part for part, _ in ROWS}:
            found = [(s, n) for s, (own, n) in product(TOTALS, ROWS) if own == part]
            connection.execute("DELETE FROM t")
            connection.executemany("INSERT INTO t VALUES (?, ?)", found)
            text = rendered(share(exp.column("s"), integer(part), exp.column("n")))
            assert "TRY(" not in text  # it would be a lambda where rows are joined
            rows = connection.execute(f"SELECT s, n, {text} FROM t").fetchall()
            for s, n, shared in rows:
                quotient = abs(s) * part // n
                assert shared == (quotient if s >= 0 else -quotient)
            assert len(rows) == len(found)


@pytest.mark.parametrize("part", [1, 7, 2**31 - 1])
def test_a_share_whose_product_is_bounded_is_the_same_integer(part: int) -> None:
    """Up to the last product that 64 bits hold, in one division, and beyond them in 128."""
    for largest in (2**63 - 1, 2**63):
        most = largest // part
        totals = [s for s in (0, 1, -1, 12, -12, most - 1, most, -most) if abs(s) < 2**63]
        text = rendered(share(exp.column("s"), exp.column("k"), exp.column("n"), largest))
        assert ("TRY" in text) == (largest >= 2**63)
        # In the narrowest type that holds them, as a unit's clamped sums are.
        kind = "INTEGER" if max(totals) < 2**31 else "BIGINT"
        with attached() as connection:
            connection.execute(f"CREATE TABLE t (s {kind}, k INTEGER, n INTEGER)")
            rows = [
                (s, part, n)
                for s, n in product(totals, (1, part, part + 1, 2**31 - 1))
                if n < 2**31
            ]
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
            for s, k, n, shared in connection.execute(f"SELECT s, k, n, {text} FROM t").fetchall():
                quotient = abs(s) * k // n
                assert shared == (quotient if s >= 0 else -quotient)
            assert connection.execute(
                f"SELECT {text} FROM (SELECT NULL AS s, 1 AS k, 1 AS n)"
            ).fetchall() == [(None,)]
