"""Columns as statements read them that the server computes: each in the type that is declared.

What a pulled column has, row by row, this one has, too: NULL for what the declared type doesn't
hold. Where that isn't certain of every value (the nearest double of a numeric's digits, a decimal
that loses digits), the rows are pulled.
"""

from __future__ import annotations

import re
from typing import Final

_BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_OWN_BITS: Final = {"smallint": 16, "integer": 32, "bigint": 64}
_NUMERIC: Final = re.compile(r"numeric\((\d+),(\d+)\)")
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_TEXT: Final = re.compile(r"text|character varying(\(\d+\))?|character\(\d+\)")
_MOMENT: Final = re.compile(r"timestamp(?:\(\d\))? (with|without) time zone")

_DUCKDB_MOMENT: Final = """CASE WHEN {0} < CAST('294247-01-01' AS TIMESTAMP)
OR {0} = CAST('infinity' AS TIMESTAMP) THEN {0} END"""
"""DuckDB has no later moments."""


_STORED: Final = {
    "BOOLEAN": "boolean",
    "TINYINT": "smallint",
    "UTINYINT": "smallint",
    "SMALLINT": "smallint",
    "USMALLINT": "integer",
    "INTEGER": "integer",
    "UINTEGER": "bigint",
    "BIGINT": "bigint",
    "UBIGINT": "numeric(39,0)",
    "HUGEINT": "numeric(39,0)",
    "UHUGEINT": "numeric(39,0)",
    "DATE": "date",
    "DOUBLE": "double precision",
    "TIMESTAMP": "timestamp without time zone",
    "VARCHAR": "text",
}
"""The server's type that has all values of a declared one, and from which it is read."""


def storage_type(declared: str) -> str | None:
    """The server's type in which a sidecar has a column that is declared as `declared`.

    What `pushed_reading` made of the source's column is read from it unchanged. None: no sidecar
    has such columns, as they are pulled.
    """
    if decimal := _DECIMAL.fullmatch(declared):
        return f"numeric({decimal[1]},{decimal[2]})"
    return _STORED.get(declared)


def pushed_reading(server_type: str, declared: str) -> str | None:
    """A column of `server_type`, {0}, in the server's type for `declared`; None: it is pulled."""
    if declared == "VARCHAR" and _TEXT.fullmatch(server_type):
        # Texts are equal if their bytes are, whatever a collation takes for equal.
        return 'CAST({0} AS TEXT) COLLATE "C"'
    match server_type, declared:
        case ("boolean", "BOOLEAN") | ("date", "DATE") | ("double precision", "DOUBLE"):
            return "{0}"
        case ("real", "DOUBLE"):
            return "CAST({0} AS DOUBLE PRECISION)"
        case _:
            pass
    if declared == "TIMESTAMP" and (match := _MOMENT.fullmatch(server_type)):
        moment = "{0}" if match[1] == "without" else "({0} AT TIME ZONE 'UTC')"
        return _DUCKDB_MOMENT.replace("{0}", moment)
    if declared.removeprefix("U") in _BITS:
        return _integer(server_type, declared)
    number, decimal = _NUMERIC.fullmatch(server_type), _DECIMAL.fullmatch(declared)
    if number and decimal and _holds(decimal, number):
        return "NULLIF({0}, CAST('NaN' AS NUMERIC))"
    return None


def _integer(server_type: str, declared: str) -> str | None:
    signed = declared in _BITS
    bits = _BITS[declared.removeprefix("U")]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    needed = max(high.bit_length() + 1, 32)
    name = "INTEGER" if needed <= 32 else "BIGINT" if needed <= 64 else "NUMERIC"
    cast = f"CAST({{0}} AS {name})"
    own = _OWN_BITS.get(server_type)
    if own is not None and signed and own <= bits:
        return cast
    number = _NUMERIC.fullmatch(server_type)
    if own is None and not (number and number[2] == "0"):
        return None
    # NaN is above all numbers.
    ends = f"CAST('{low}' AS NUMERIC) AND CAST('{high}' AS NUMERIC)"
    return f"CASE WHEN {{0}} BETWEEN {ends} THEN {cast} END"


def _holds(decimal: re.Match[str], number: re.Match[str]) -> bool:
    """Whether a declared decimal has all digits of a numeric, before its point and after it."""
    (wide, fine), (own_wide, own_fine) = (tuple(map(int, m.groups())) for m in (decimal, number))
    return own_wide <= 38 and fine >= own_fine and wide - fine >= own_wide - own_fine
