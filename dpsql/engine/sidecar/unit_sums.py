"""The sidecar's table of units: one row for each unit, with its number of rows and their sums.

| column           | what it holds                                                            |
| ---------------- | ------------------------------------------------------------------------ |
| unit of the row  | the unit; also under the name of the column that names it                |
| rows of the unit | how many rows of the table it has                                        |
| values of c      | in how many of them c isn't NULL                                         |
| sum of c         | the sum of those values within c's bounds, in steps of its last digit     |

Each is a function of one unit's bag of rows. Statements that read a sum also enforce that it can be
one: that it lies between as many times the column's low and high bound as there are values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from dpsql.engine.duckdb.statement import quoted

COUNT: Final = "USMALLINT"
"""The DuckDB type of a unit's numbers of rows and of values."""


def values_of(column: str) -> str:
    """The name of the column with the number of the unit's values of `column` but NULL."""
    return f"values of {column}"


def sum_of(column: str) -> str:
    """The name of the column with the sum of the unit's values of `column`, in steps."""
    return f"sum of {column}"


class ColumnSum(Struct, frozen=True):
    """A column with two SQL expressions: `term`, which is summed, and `steps`, the sum in steps.

    `term` reads the column by its name, `steps` the sum by the name `sum_of(column)`.
    """

    column: str
    term: str
    steps: str


def sums(columns: Sequence[ColumnSum]) -> list[str]:
    """The items of a SELECT, grouped by unit, that counts and sums the values of `columns`."""
    items = [(f"count({quoted(each.column)})", values_of(each.column)) for each in columns]
    items += [(f"sum({each.term})", sum_of(each.column)) for each in columns]
    return [f"{item} AS {quoted(name)}" for item, name in items]


def narrowed(columns: Sequence[ColumnSum]) -> list[str]:
    """The items of a SELECT that casts the results of `sums` to the types of the sidecar.

    A value that doesn't fit its type is NULL; its unit has more rows than any limit allows.
    """
    items = [(quoted(values_of(c.column)), COUNT, values_of(c.column)) for c in columns]
    items += [(each.steps, "BIGINT", sum_of(each.column)) for each in columns]
    return [f"TRY_CAST({item} AS {kind}) AS {quoted(name)}" for item, kind, name in items]


def names(columns: Sequence[ColumnSum]) -> list[str]:
    """The names of the sidecar's columns for `columns`."""
    return [name(each.column) for name in (values_of, sum_of) for each in columns]
