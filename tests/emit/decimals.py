"""What an expression makes of decimals, asked of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
from sqlglot import exp

from dpsql.schema.type import Decimal

COLUMN = exp.column("x")
"""What stands for the decimal."""


def evaluated(expression: exp.Expr, kind: Decimal, steps: Sequence[int]) -> list[int]:
    """`expression` of each number of `steps` of the last digit of `kind`."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE decimals (n INTEGER, x {kind})")
        connection.executemany(
            "INSERT INTO decimals VALUES (?, ?)",
            [(n, _written(number, kind.scale)) for n, number in enumerate(steps)],
        )
        taken = expression.sql("duckdb")
        found = connection.execute(f"SELECT {taken} FROM decimals ORDER BY n").fetchall()
    return [value for (value,) in found]


def _written(steps: int, scale: int) -> str:
    whole, part = divmod(abs(steps), 10**scale)
    return f"{'-' if steps < 0 else ''}{whole}.{part:0{scale}}"
