"""Which columns have values beyond their bounds in any row, or many: flags in all rows alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar.row_columns import (
    FEW_VALUES,
    OUT_OF_RANGE,
    UNIT_ROW_COUNT,
    SidecarTable,
    many_values_column,
    out_of_range_column,
)

RANGE_CHECK_END: Final = f'DROP TABLE "{OUT_OF_RANGE}"'
"""The statement after the last of `row_order.write_rows`."""


def range_check(contents: SidecarTable) -> str:
    """The statement that finds out which columns have values beyond their bounds, or many.

    It is of the whole table: in all rows the flag must be the same to decide on a plan. It comes
    before `row_order.write_rows`, `RANGE_CHECK_END` after it.
    """
    return f"CREATE TEMP TABLE {quoted(OUT_OF_RANGE)} AS {_out_of_range(contents)}"


def renewed_range_check(contents: SidecarTable, target: exp.Table) -> Iterator[str]:
    """The statements by which rows that stay in `target` have what `range_check` found out."""
    table = target.sql("duckdb")
    for name in contents.of_whole_table:
        value = f"(SELECT {quoted(name)} FROM {quoted(OUT_OF_RANGE)})"  # noqa: S608
        yield f"UPDATE {table} SET {quoted(name)} = {value} WHERE {quoted(name)} <> {value}"  # noqa: S608


def _out_of_range(contents: SidecarTable) -> str:
    """One row with a flag for each bounded column: 1 if any row is out of its bounds, else 0.

    The flag of a column by which rows are counted is 1 if it has about so many values or more.
    """
    flags = [
        f"CAST(coalesce(max(CASE WHEN {condition} THEN 0 ELSE 1 END), 0) AS UTINYINT)"
        f" AS {quoted(out_of_range_column(column))}"
        for column, condition in contents.range_checked_columns
    ]
    flags += [
        # To count them takes too long, and no result depends on how many they are.
        f"CAST(approx_count_distinct({quoted(column)}) > {FEW_VALUES} AS UTINYINT)"
        f" AS {quoted(many_values_column(column))}"
        for column in contents.group_count_columns
    ]
    # Without an aggregate there would be one row for each row of the table, and the join would pair
    # each row of the sidecar with all of them: of 50 rows, 2,500 would be made.
    flags.append(f"count(*) AS {quoted(UNIT_ROW_COUNT)}")
    return f"SELECT {', '.join(flags)} FROM ({contents.rows})"  # noqa: S608
