"""Decimals as DuckDB reads them."""

from __future__ import annotations


def written(steps: int, scale: int) -> str:
    """`steps` of a decimal's last digit."""
    whole, part = divmod(abs(steps), 10**scale)
    return f"{'-' if steps < 0 else ''}{whole}.{part:0{scale}}"
