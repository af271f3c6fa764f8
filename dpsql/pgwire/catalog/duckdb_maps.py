"""Maps and lists of constants, as DuckDB binds them fastest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

_SEPARATOR: Final = "\x1f"


def map_of(values: Mapping[str, object] | Mapping[int, object], none: str | int = "") -> str:
    """A MAP of constants; where `values` is empty, `none` is a key, so that keys have a type."""
    if not values:
        return f"MAP {{{_constant(none)}: CAST(NULL AS VARCHAR)}}"
    return f"MAP({list_of(list(values))}, {list_of(list(values.values()))})"


def list_of(items: Sequence[object]) -> str:
    """A list of constants as one text, which is split: DuckDB binds that five times as fast."""
    texts = list(map(str, items))
    if any(_SEPARATOR in text for text in texts):
        return f"[{', '.join(map(_constant, items))}]"
    whole = exp.Literal.string(_SEPARATOR.join(texts)).sql("duckdb")
    split = f"string_split({whole}, '{_SEPARATOR}')"
    are_numbers = all(type(item) is int for item in items)
    return f"CAST({split} AS BIGINT[])" if are_numbers else split


def _constant(value: object) -> str:
    if isinstance(value, int):
        return f"CAST({value} AS BIGINT)"
    return exp.Literal.string(str(value)).sql("duckdb")
