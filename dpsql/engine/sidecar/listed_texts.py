"""Texts of few values are read as numbers of a list, which DuckDB finds in place of their bytes.

The list is of the values of a table's first rows. Who reads a text that isn't in it gets an error
of DuckDB's, and reads all texts as they are: what is read is the same, and takes longer.
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

NotListed = duckdb.ConversionException
"""What is raised where a text is none of its list."""

_SAMPLED: Final = 20_000
"""Rows whose values are listed."""

FEW: Final = 1_000
"""Texts with so few values among the rows that are sampled are held as numbers of their values."""


def listed_texts(
    connection: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str]
) -> ListedTexts:
    """The columns of `table` that have these `types` and few texts."""
    names = [name for name, kind in types.items() if kind == "VARCHAR" and name != UNIT_COLUMN]
    lists = {name: _values(connection, table, name) for name in names}
    return {name: _enum(values) for name, values in lists.items() if values}


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
