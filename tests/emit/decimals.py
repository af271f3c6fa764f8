"""What an expression makes of decimals, asked of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence

from data.database import attached
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.schema.sql_type import Decimal

COLUMN = exp.column("x")
"""What stands for the decimal."""


def evaluated(expression: exp.Expr, kind: Decimal, steps: Sequence[int]) -> list[int]:
    """`expression` of each number of `steps` of the last digit of `kind`."""
    with attached() as connection:
        written = [_written(number, kind.scale) for number in steps]
        connection.execute(
            f"CREATE TABLE decimals AS SELECT unnest($1) AS n, unnest($2::{kind}[]) AS x",
            [list(range(len(steps))), written],
        )
        taken = rendered(expression)
        found = connection.execute(f"SELECT {taken} FROM decimals ORDER BY n").fetchall()
    return [value for (value,) in found]


def _written(steps: int, scale: int) -> str:
    whole, part = divmod(abs(steps), 10**scale)
    return f"{'-' if steps < 0 else ''}{whole}.{part:0{scale}}"
