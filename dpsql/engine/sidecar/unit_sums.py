"""What a sidecar has of each unit, beside its rows: one row, with their number and their sums.

| column           | what it holds                                                            |
| ---------------- | ------------------------------------------------------------------------ |
| unit of the row  | the unit; also under the name of the column that names it                |
| rows of the unit | how many rows of the table it has                                        |
| values of c      | in how many of them c isn't NULL                                         |
| sum of c         | the sum of those values within c's bounds, in steps of its last digit     |

Each is a function of one unit's bag of rows. Who reads a sum enforces that it is one: that it lies
between so many least and so many greatest values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp


def values_of(column: str) -> str:
    """The name of the number of a unit's values of `column`."""
    return f"values of {column}"


def sum_of(column: str) -> str:
    """The name of the sum of a unit's values of `column`."""
    return f"sum of {column}"


@dataclass(frozen=True, slots=True)
class ColumnSum:
    """A column: what is summed of it, by its name; and, by `sum_of`, the sum in steps."""

    column: str
    term: str
    steps: str


def sums(columns: Sequence[ColumnSum]) -> list[str]:
    """What is asked of a unit's rows."""
    items = [(f"count({_quoted(each.column)})", values_of(each.column)) for each in columns]
    items += [(f"sum({each.term})", sum_of(each.column)) for each in columns]
    return [f"{item} AS {_quoted(name)}" for item, name in items]


def narrowed(columns: Sequence[ColumnSum]) -> list[str]:
    """What `sums` found, in the types that it is kept in.

    Of a unit of so many rows that no limit lets them all count, it may be NULL.
    """
    items = [(_quoted(values_of(c.column)), "USMALLINT", values_of(c.column)) for c in columns]
    items += [(each.steps, "BIGINT", sum_of(each.column)) for each in columns]
    return [f"TRY_CAST({item} AS {kind}) AS {_quoted(name)}" for item, kind, name in items]


def names(columns: Sequence[ColumnSum]) -> list[str]:
    """The columns that are kept."""
    return [name(each.column) for name in (values_of, sum_of) for each in columns]


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")
