"""An answer's rows as JSON values, without loss of a digit."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

_EXACT: Final = 2**53
"""Integers beyond ±2^53 become texts, since most readers of JSON don't read them exactly."""

_DIGITS: Final = 15
"""Decimals with more significant digits become texts, since a float doesn't hold them exactly."""


def json_rows(rows: Iterable[Iterable[object]]) -> list[list[Any]]:
    """The rows as lists of JSON values."""
    return [[json_value(value) for value in row] for row in rows]


def json_value(value: object) -> Any:
    """A value in JSON: a number where it is exact, otherwise a text; dates in ISO 8601."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_EXACT <= value <= _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return _decimal(value)
        case dt.date() | dt.time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case list() | tuple():
            return [json_value(item) for item in value]
        case dict():
            return {str(name): json_value(item) for name, item in value.items()}
        case _:
            return str(value)


def _decimal(value: Decimal) -> int | float | str:
    if not value.is_finite() or len(value.as_tuple().digits) > _DIGITS:
        return f"{value:f}" if value.is_finite() else str(value)
    return int(value) if value == value.to_integral_value() else float(value)
