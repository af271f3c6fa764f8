"""Texts of few values are read as numbers of a list, which DuckDB finds in place of their bytes.

The list is of the values of a table's first rows. It is tried on all rows before any is read by it:
a column of which one text isn't in it is read as it is. A text that is cast to a list that may not
have it is NULL, which DuckDB does once for each text of a dictionary; a cast that fails, for each
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN

ListedTexts = Mapping[str, str]
"""The columns that are read as numbers, each with its ENUM, a type of DuckDB's."""

_SAMPLED: Final = 20_000
"""Rows whose values are listed."""

FEW: Final = 1_000
"""Texts with so few values among the rows that are sampled are held as numbers of their values."""


def listed_texts(
    connection: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str]
) -> ListedTexts:
    """The columns of `table` that have these `types` and few texts, of which none isn't listed."""
    names = [name for name, kind in types.items() if kind == "VARCHAR" and name != UNIT_COLUMN]
    lists = {name: _values(connection, table, name) for name in names}
    enums = {name: _enum(values) for name, values in lists.items() if values}
    if not enums:
        return {}
    texts = [f"count({quoted(name)}) = count({listed(name, enums[name])})" for name in enums]
    select = f"SELECT {', '.join(texts)} FROM {quoted(table)}"  # noqa: S608
    (are_whole,) = connection.execute(select).fetchall()
    return {name: enums[name] for name, is_whole in zip(enums, are_whole, strict=True) if is_whole}


def listed(column: str, enum: str) -> str:
    """The SQL of a text as one of its list; NULL if it isn't."""
    return f"TRY_CAST({quoted(column)} AS {enum})"


def _values(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> list[str]:
    """The values of `column` in the first rows; none if they are many, or others may come later."""
    name = quoted(column)
    some = f"(SELECT {name} FROM {quoted(table)} LIMIT {_SAMPLED})"  # noqa: S608
    select = f"SELECT {name}, count(*) FROM {some} WHERE {name} IS NOT NULL GROUP BY ALL ORDER BY 1"  # noqa: S608
    counted = connection.execute(f"{select} LIMIT {FEW + 1}").fetchall()
    values = [str(value) for value, _ in counted]
    # Where some came once, as many are likely not to have come yet. In SQL a text ends at chr(0).
    is_whole = all(rows > 1 for _, rows in counted) and not any("\0" in value for value in values)
    return values if is_whole and len(values) <= FEW else []


def _enum(values: list[str]) -> str:
    return f"ENUM({', '.join(exp.Literal.string(value).sql('duckdb') for value in values)})"
