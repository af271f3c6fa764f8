"""Two answers compared: exactly where numbers are exact, within rounding where they are doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

RELATIVE = 1e-9

Row = tuple[object, ...]


def disagreement(ours: Sequence[Row], theirs: Sequence[Row], slack: float, *, order: bool) -> str:
    """What differs, in words; empty if nothing does. Without `order` rows are compared as a bag."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB has {len(theirs)}: {_sample(ours, theirs)}"
    if not order:
        ours, theirs = sorted(ours, key=_place), sorted(theirs, key=_place)
    for a, b in zip(ours, theirs, strict=True):
        if not all(_equal(x, y, slack) for x, y in zip(a, b, strict=True)):
            return f"{a} where DuckDB has {b}"
    return ""


def _equal(a: object, b: object, slack: float) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, float) or isinstance(b, float):
        if a is None or b is None:
            return a is b
        x, y = float(a), float(b)  # type: ignore[arg-type]
        if math.isnan(x) or math.isnan(y):
            return math.isnan(x) and math.isnan(y)
        return x == y or abs(x - y) <= slack + RELATIVE * max(abs(x), abs(y))
    return a == b


def _place(row: Row) -> tuple[tuple[tuple[int, object], ...], tuple[float, ...]]:
    """A place in an order of all rows: doubles come last, for near ones can be either way round."""
    exact = tuple(_part(value) for value in row)
    return exact, tuple(v for v in row if isinstance(v, float) and math.isfinite(v))


def _part(value: object) -> tuple[int, object]:
    match value:
        case None:
            return (0, 0)
        case bool():
            return (1, value)
        case float():
            return (2, 0)
        case int() | Decimal():
            return (3, Fraction(value))
        case _:
            return (4, str(value))


def _sample(ours: Sequence[Row], theirs: Sequence[Row]) -> str:
    return f"{list(ours)[:4]} and {list(theirs)[:4]}"
