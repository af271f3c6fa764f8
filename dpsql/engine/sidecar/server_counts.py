"""The columns of a sidecar on a server that count a unit's rows, in that server's SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dpsql.engine.sidecar.row_columns import (
    COUNT,
    COUNT_CAP,
    UNIT_COLUMN,
    UNIT_ROW_COUNT,
    first_row_column,
    value_count_column,
)
from dpsql.engine.sidecar.server import MARK


class CountSql(Struct, frozen=True):
    """How a server writes what rows are counted by.

    `quoted` writes names, and `integer` is the type of 32 bits. `value` writes the values of a
    column as statements group by them: what they take for one value is counted as one. `order`
    writes the order of rows of one value, whose first is marked.
    """

    integer: str
    quoted: Callable[[str], str]
    value: Callable[[str], str]
    order: Callable[[str], str]


def count_columns(columns: Sequence[str], sql: CountSql) -> list[tuple[str, str, str]]:
    """The columns of counts, by the values of `columns`: names, DuckDB types, and what counts.

    NULL is one of the values.
    """
    unit = sql.quoted(UNIT_COLUMN)
    counted = [(UNIT_ROW_COUNT, unit)]
    counted += [(value_count_column(column), f"{unit}, {sql.value(column)}") for column in columns]
    return [
        (
            name,
            COUNT,
            f"CAST(least(count(*) OVER (PARTITION BY {by}), {COUNT_CAP}) AS {sql.integer})",
        )
        for name, by in counted
    ] + [
        (
            first_row_column(column),
            MARK,
            f"row_number() OVER (PARTITION BY {unit}, {sql.value(column)}{sql.order(column)}) = 1",
        )
        for column in columns
    ]
