"""Rows that are drawn of each unit by the numbers that a sidecar stores beside them, unsorted.

median(price) by flag, 30 rows of a unit in a group

numbered  rows with number with flag <= 30
later     rows with rows with flag > 30, where any row of the table has no price

Which of the rows count is the same whether or not the table has rows without a price: a unit's
first 30 that have one. So a number that tells of the whole table decides what is read, and no more.
"""

from __future__ import annotations

from msgspec import Struct

from dpsql.bounding.numbered_rows import drawn_value, number_column
from dpsql.emit.sql.identifier import column_name
from dpsql.engine.sidecar.row_columns import (
    out_of_range_column,
    row_number_column,
    value_count_column,
)
from dpsql.physical.modifier.clamp_elimination import OUT_OF_RANGE_TYPE
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE
from dpsql.physical.sidecar_rows import at_most, sidecar_rows
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByStoredRank,
    ByUnit,
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.expression import Column, Compare, Comparison, Literal


class NumberedRows(Struct, frozen=True):
    """The rows `numbered` up to the limit, and `later` ones that may count; None if none may.

    `order` is the column of their numbers.
    """

    limited: LimitGroups
    numbered: Contributions
    later: Contributions | None
    order: Column

    @property
    def order_name(self) -> str:
        """What `order` is called where the rows are read."""
        return column_name(self.order)

    def describe(self) -> str:
        """Which rows they are, as an analyst is told."""
        return f"{self.order.name} <= {self.limited.source.rows_per_group}"


def numbered_rows(limited: Limited, choice: int) -> NumberedRows | None:
    """The rows that count for this choice of cells; None if they aren't drawn by stored numbers.

    That is decided by what the statement is, and that a sidecar has its rows: by none of the ways
    to compute it.
    """
    # No key has to be trusted: nothing is joined to rows that are complete.
    rows = sidecar_rows(limited, lambda _: False) if isinstance(limited, LimitGroups) else None
    if rows is None or rows.is_on_server:
        return None
    max_rows, limit = rows.limited.source.rows_per_group, rows.limited.limit
    name = number_column(rows.contributions, rows.row_source, max_rows)
    if name is None or not isinstance(limit, ByDomain | ByStoredRank | ByUnit):
        return None
    value = drawn_value(rows.contributions.cell_choices[choice], rows.row_source)
    assert value is not None
    first = rows.free_number()
    rank = rows.stored_rank(first)
    chosen = [] if rank is None else [at_most(*rank)]
    order = Column(first + 1, row_number_column(name), COUNT_TYPE)
    stored = [order] if rank is None else [order, rank[0]]
    numbered = rows.over(rows.scan(*stored), [*chosen, at_most(order, max_rows)])
    later = None
    if rows.row_source.scan.table.columns[value.name].nullable:
        count = Column(first + 2, value_count_column(name), COUNT_TYPE)
        some = Column(first + 3, out_of_range_column(value.name), OUT_OF_RANGE_TYPE)
        are_more = [_more(count, max_rows), _more(some, 0)]
        later = rows.over(rows.scan(*stored, count, some), [*chosen, *are_more], (order,))
    return NumberedRows(rows.limited, numbered, later, order)


def _more(column: Column, limit: int) -> Compare:
    return Compare(Comparison.GREATER, column, Literal(limit, column.type))
