"""How columns of a sidecar's rows are compressed, where DuckDB needn't find that out by itself.

It analyses each column by each of its methods, which takes as long as to write it. Of three it
needn't be asked: what is said of a unit is the same in all its rows; of texts of which nearly all
differ there is no dictionary; and counts that hardly change from row to row are runs, which take a
third as long to write as numbers of few bits, which all others are. Values are the same whatever
compresses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar.range_check import WholeTable
from dpsql.engine.sidecar.row_columns import (
    UNIT_COLUMN,
    UNIT_ROW_COUNT,
    SidecarTable,
    distinct_count_column,
)

_RUN_LENGTH: Final = 4
"""Of so many rows a unit, runs of a column that its rows have alike are shorter than numbers."""

_LONG_RUN: Final = 8
"""Runs of so many counts are shorter than counts of seven bits."""

_INTEGERS: Final = frozenset(
    [
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UUID"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    ]
)
"""Types that DuckDB can store as runs."""

_SAMPLED: Final = 50_000


def column_definitions(
    contents: SidecarTable, types: Mapping[str, str], rows: pa.Table
) -> list[str]:
    """The columns of a CREATE TABLE with these `types`, by the first of the `rows` that it gets."""
    in_runs = _of_unit(contents) if _has_runs(rows) else frozenset()
    counts = frozenset(contents.counts)
    definitions = []
    for name, kind in types.items():
        method = ""
        if kind == "VARCHAR" and name in rows.column_names and _are_many(rows.column(name)):
            method = " USING COMPRESSION ZSTD"
        elif (kind in _INTEGERS and name in in_runs) or (
            name in counts and _are_runs(rows.column(name))
        ):
            method = " USING COMPRESSION RLE"
        elif name in counts:
            method = " USING COMPRESSION BITPACKING"
        definitions.append(f"{quoted(name)} {kind}{method}")
    return definitions


def computed_columns(
    contents: SidecarTable, types: Mapping[str, str], flags: WholeTable
) -> list[str]:
    """The columns of a CREATE TABLE of rows that aren't stored: a row's others tell what they are.

    The unit is there by the name that it has elsewhere; of the whole table they are constants.
    """
    computed = [(name, "UTINYINT", f"CAST({number} AS UTINYINT)") for name, number in flags.items()]
    lent = contents.lent_unit_column
    if lent is not None:
        computed.append((lent, types[UNIT_COLUMN], quoted(UNIT_COLUMN)))
    return [
        f"{quoted(name)} {kind} GENERATED ALWAYS AS ({value}) VIRTUAL"
        for name, kind, value in computed
    ]


def _of_unit(contents: SidecarTable) -> frozenset[str]:
    """The columns that are the same in all rows of a unit."""
    counts = map(distinct_count_column, contents.group_count_columns)
    return frozenset((UNIT_COLUMN, UNIT_ROW_COUNT, *counts))


def _has_runs(rows: pa.Table) -> bool:
    """Whether units have enough of the `rows`, each of which has its unit's number of them."""
    units = (1 / rows.column(UNIT_ROW_COUNT).to_numpy()).sum()
    return bool(units * _RUN_LENGTH <= len(rows))


def _are_runs(counts: pa.ChunkedArray) -> bool:
    values = counts.to_numpy()
    return bool(np.count_nonzero(values[1:] != values[:-1]) * _LONG_RUN < len(values))


def _are_many(texts: pa.ChunkedArray) -> bool:
    """Whether most of the first values are texts that none before them is.

    Of few texts the rows have numbers of them, and no texts.
    """
    first = texts.slice(0, _SAMPLED)
    return not pa.types.is_dictionary(first.type) and len(first.unique()) * 2 > len(first)
