"""The columns that a sidecar adds to each row: its unit, and counts of that unit's rows.

Each is a function of one unit's bag of rows and of a salt that is drawn for each file: other units'
rows change none of them. For a column c:

| column      | what it holds                                                             |
| ----------- | ------------------------------------------------------------------------- |
| rows with c | the unit's rows that have this row's value of c, NULL being one            |
| place of c  | the place of this value among the unit's, by a keyed hash of unit and value |
| values of c in the unit | how many values of c the unit has, NULL being one              |
| number with c | the number of the row among the unit's with this value, in the unit's own order |

A unit's own order of its rows is that of a keyed hash of each; rows that are alike follow each
other in any order. For the months of a column of days there are the first two, of which c is "month
of" the column.

Others are functions of the whole table, and computed columns of the file, constants. So they change
no result, but only which of two plans for the same result the engine runs:

| column             | what it holds                                                      |
| ------------------ | ------------------------------------------------------------------ |
| beyond bounds of c | 1 in all rows if any row's c is NULL or beyond its bounds, else 0   |
| many values of c   | 1 in all rows if c has more than about FEW_VALUES values, else 0    |

Rows are in the order of their units: units within all declared limits first, and among these, ones
with few rows first. So units that may be over a limit are at the end, and reading only them skips
the rest. No statement depends on the order, and limits are enforced whatever it is. If a table is
too long to be sorted at once, each part of its units is in this order.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.engine.sidecar import unit_sums

UNIT_COLUMN: Final = "unit of the row"
"""The column that holds each row's unit."""

UNIT_ROW_COUNT: Final = "rows of the unit"
"""The column that holds how many rows a row's unit has in the table."""

COUNT_CAP: Final = 65_535
"""The highest count, which means so many or more."""

COUNT: Final = "INTEGER"
"""The DuckDB type of counts. Of 16 bits, which hold them, DuckDB takes half as long again to append
one: its loop over integers of 32 bits is vectorised."""

FEW_VALUES: Final = 8
"""So many values of a column, but for NULL, are few: a string of bits for each is little memory."""

ROW_NUMBER: Final = "number of the row"
"""The column that numbers rows while the file is made."""


def value_count_column(column: str) -> str:
    """The name of the column that counts the unit's rows with this row's value of `column`."""
    return f"rows with {column}"


def group_rank_column(column: str) -> str:
    """The name of the column with the rank of this row's value of `column` in its unit."""
    return f"place of {column}"


def distinct_count_column(column: str) -> str:
    """The name of the column that counts the unit's values of `column`."""
    return f"values of {column} in the unit"


def row_number_column(column: str) -> str:
    """The name of the column that numbers the unit's rows with this row's value of `column`."""
    return f"number with {column}"


def first_row_column(column: str) -> str:
    """The name of a server's column that is TRUE in one row for each of a unit's values."""
    return f"first of {column}"


COUNT_KINDS: Final = (
    value_count_column,
    group_rank_column,
    distinct_count_column,
    row_number_column,
)
"""The names of what is counted by the values of a column."""


MONTH_KINDS: Final = (value_count_column, group_rank_column)
"""The names of what is counted by months."""


def out_of_range_column(column: str) -> str:
    """The name of the column that is 0 if all values of `column` lie within its bounds, else 1."""
    return f"beyond bounds of {column}"


def many_values_column(column: str) -> str:
    """The name of the column that is 0 if `column` has few values in the whole table, else 1."""
    return f"many values of {column}"


class SidecarTable(Struct, frozen=True):
    """A table to prepare: `rows` is the SELECT of its rows and their unit.

    `with_unit` is the SELECT that counts the rows that have a unit, each once. Each row gets its
    unit's number of rows, in all and with its value of each of `group_count_columns`; and of each
    of `months`, names with SQL expressions, numbers of rows and places alone. Units with
    more than `max_rows` rows, or more than `max_rows_per_value` of one value, are last in order.
    `range_checked_columns` are columns, each with the SQL condition that its value lies within its
    bounds; `unit_sum_columns` are summed for each unit, None if the sidecar has no rows of units.
    `unit_column` is the column that names the unit, in this table or in the one that its keys lead
    to; the rows get it, too, under the name `lent_unit_column`, unless that is None.
    Two rows are the same if the SQL expressions `compared` are.
    """

    name: str
    rows: str
    with_unit: str
    group_count_columns: tuple[str, ...]
    months: tuple[tuple[str, str], ...]
    range_checked_columns: tuple[tuple[str, str], ...]
    unit_sum_columns: tuple[unit_sums.ColumnSum, ...] | None
    unit_column: str
    lent_unit_column: str | None
    max_rows: int
    max_rows_per_value: int
    compared: tuple[str, ...]

    @property
    def counts(self) -> tuple[str, ...]:
        """The names of the columns that hold counts, as each row has them."""
        by_values = (name(c) for c in self.group_count_columns for name in COUNT_KINDS)
        by_months = (name(c) for c, _ in self.months for name in MONTH_KINDS)
        return UNIT_ROW_COUNT, *by_values, *by_months

    @property
    def of_whole_table(self) -> tuple[str, ...]:
        """The names of the columns that say in each row the same of all rows of the table."""
        return (
            *(out_of_range_column(c) for c, _ in self.range_checked_columns),
            *map(many_values_column, self.group_count_columns),
        )

    @property
    def added(self) -> tuple[str, ...]:
        """The names of all columns that the sidecar adds, which the table must not have itself."""
        sums = unit_sums.names(self.unit_sum_columns or ())
        return (
            UNIT_COLUMN,
            ROW_NUMBER,
            *self.counts,
            *map(first_row_column, self.group_count_columns),
            *self.of_whole_table,
            *sums,
        )
