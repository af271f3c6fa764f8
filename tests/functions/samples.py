"""Values of every type: ordinary ones, and those at which functions raise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import duckdb
from functions.calls import TYPES

from dpsql.plan.expression_text import describe_number
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType

_EXTREME = {
    "BOOLEAN": ["true", "false"],
    "VARCHAR": [
        "",
        " ",
        "a",
        "A",
        "aab-b",
        "ß",
        "İ",
        "日本",
        "2024-02-30",
        "nan",
        "1e400",
        "ab%_" * 500,
        "\\",
        "(",
        "\n",
        "👩‍👩‍👧",
    ],
    "DATE": [
        "infinity",
        "-infinity",
        "5877642-06-25 (BC)",
        "5881580-07-10",
        "2024-02-29",
        "1970-01-01",
        "0044-03-15 (BC)",
        "294247-01-10",
        "290309-12-22 (BC)",
    ],
    "TIMESTAMP": [
        "infinity",
        "-infinity",
        "290309-12-22 (BC) 00:00:00",
        "290309-12-21 (BC) 19:59:05.224192",
        "294247-01-10 04:00:54.775806",
        "2024-02-29 23:59:59.999999",
        "1969-12-31 23:59:59.999999",
    ],
    "UUID": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
}

_ORDINARY = {
    "BOOLEAN": ["true", "false"],
    "VARCHAR": ["", "a", "ab", "Abc", "a-b-c", "2024-05-06", "xax", "éàü", "12"],
    "DATE": ["2024-01-31", "2024-02-29", "1999-12-31", "1970-01-01", "1969-07-20"],
    "TIMESTAMP": [
        "2024-01-31 23:59:59.999999",
        "2024-02-29 12:30:15.5",
        "1999-12-31 00:00:00",
        "1970-01-01 00:00:00",
        "1969-07-20 20:17:40",
    ],
    "UUID": ["00000000-0000-0000-0000-000000000001"],
}


def extreme(kind: SqlType) -> list[str]:
    """Texts of values at the edges of `kind`."""
    match kind:
        case Integer(bits=bits, signed=signed):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            found = [0, 1, 2, 7, 31, 63, 64, high // 3, -1, -2, -7, low, low + 1, high - 1, high]
            return [str(value) for value in dict.fromkeys(found) if low <= value <= high]
        case Double(bits=bits):
            huge = "1e308" if bits == 64 else "3.4e38"
            tiny = "5e-324" if bits == 64 else "1e-45"
            found = [
                "0",
                "-0.0",
                "1",
                "-1",
                "0.5",
                "-0.5",
                "2",
                "170.5",
                "-170",
                "1e18",
                "9.3e18",
                "nan",
                "inf",
                "-inf",
            ]
            return [*found, tiny, huge, f"-{huge}"]
        case Decimal(precision=precision, scale=scale):
            most = 10**precision - 1
            unit = 10**scale if scale < precision else 1
            steps = [0, 1, -1, unit, 5 * unit // 10, most, most - 1, -most]
            return [describe_number(Fraction(step, 10**scale)) for step in dict.fromkeys(steps)]
        case _:
            return _EXTREME[str(kind)]


def ordinary(kind: SqlType) -> list[str]:
    """Texts of values that a function is meant for."""
    match kind:
        case Integer(signed=signed):
            return ["0", "1", "2", "3", "5", "12", "29", "65", "100"] + (
                ["-1", "-3", "-12"] if signed else []
            )
        case Double():
            return ["0", "0.5", "1", "2.5", "-1.5", "7.25", "0.1", "-0.25", "30"]
        case Decimal(scale=scale):
            return ["0", "1", "2", "9", "12", "-3"] + (
                ["0.5", "2.5", "-1.5", "7.3"] if scale else []
            )
        case _:
            return _ORDINARY[str(kind)]


def fill(
    connection: duckdb.DuckDBPyConnection, prefix: str, values: Callable[[SqlType], list[str]]
) -> None:
    """A table for each type with its values, and NULL."""
    for kind in TYPES:
        connection.execute(f'CREATE OR REPLACE TABLE "{prefix} {kind}" (v {kind})')
        rows = ", ".join(["(?)"] * len(values(kind)))
        connection.execute(f'INSERT INTO "{prefix} {kind}" VALUES {rows}, (NULL)', values(kind))
