"""Two answers compared: exactly where numbers are exact, within rounding where they are doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import SupportsFloat

RELATIVE = 1e-9

Row = tuple[object, ...]


def disagreement(
    ours: Sequence[Row],
    theirs: Sequence[Row],
    slack: float,
    *,
    order: bool,
    nothing: bool = False,
) -> str:
    """What differs, in words; empty if nothing does.

    Without `order` rows are compared as a bag. `nothing` lets a number stand where DuckDB has NULL.
    """
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB has {len(theirs)}: {list(ours)[:4]}, {list(theirs)[:4]}"
    if nothing:
        theirs = sorted(theirs, key=_unknown)
        ours = _in_order_of(theirs, ours, slack)
    elif not order:
        ours, theirs = sorted(ours, key=_place), sorted(theirs, key=_place)
    for a, b in zip(ours, theirs, strict=True):
        if not _alike(a, b, slack, nothing=nothing):
            return f"{a} where DuckDB has {b}"
    return ""


def _in_order_of(theirs: Sequence[Row], ours: Sequence[Row], slack: float) -> list[Row]:
    """`ours` with each row in the place of its like: of the most alike, the others last."""
    waiting, found = list(ours), list[Row]()

    def likeness(mine: Row, row: Row) -> int:
        return sum(_equal(x, y, slack) for x, y in zip(mine, row, strict=True))

    for row in theirs:
        like = [w for w in waiting if _alike(w, row, slack, nothing=True)] or waiting
        found.append(max(like, key=lambda mine: likeness(mine, row)))
        waiting.remove(found[-1])
    return found


def _unknown(row: Row) -> int:
    return sum(value is None for value in row)


def _alike(a: Row, b: Row, slack: float, *, nothing: bool) -> bool:
    return all(
        _equal(x, y, slack) or (nothing and y is None and _is_number(x))
        for x, y in zip(a, b, strict=True)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _equal(a: object, b: object, slack: float) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, float) or isinstance(b, float):
        if a is None or b is None:
            return a is b
        assert isinstance(a, SupportsFloat), a
        assert isinstance(b, SupportsFloat), b
        x, y = float(a), float(b)
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
