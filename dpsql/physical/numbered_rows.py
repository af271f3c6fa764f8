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
    COUNT_CAP,
    first_row_column,
    out_of_range_column,
    row_number_column,
    value_count_column,
)
from dpsql.physical.modifier.clamp_elimination import OUT_OF_RANGE_TYPE
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE
from dpsql.physical.sidecar_rows import SidecarRows, at_most, sidecar_rows
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    ByUnit,
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.bounded_release.statistic import Statistic, UnitCount
from dpsql.plan.expression import Column, Compare, Comparison, Literal
from dpsql.schema.sql_type import Boolean


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


def marked_row(rows: SidecarRows, number: int) -> Column | None:
    """The column that tells one row of each unit in a group from others.

    None where it may be left out.
    """
    group = rows.marked_column() if rows.row_source.is_complete else None
    if group is None:
        return None
    if rows.is_on_server:
        return Column(number, first_row_column(group), Boolean())
    return Column(number, row_number_column(group), COUNT_TYPE)


def max_row_number(rows: SidecarRows) -> int | None:
    """The highest number of a row that counts; None where other rows may, or others of its unit.

    A unit's rows in a group are as many as there are, up to the limit, and a unit is one.
    """
    limited = rows.limited
    is_drawn = isinstance(limited.limit, ByHash | ByRank | ByNorm)
    if rows.is_on_server or is_drawn or limited.rows is not None:
        return None
    terms = rows.contributions
    if any(numbered_rows(limited, n) is None for n in range(len(terms.cell_choices))):
        return None
    counted = [s for s in terms.statistics if not _is_unit_count(s)]
    if not terms.statistics or not all(s.is_row_count for s in counted):
        return None
    max_rows = limited.source.rows_per_group if counted else 1
    return max_rows if max_rows < COUNT_CAP else None


def _is_unit_count(statistic: Statistic) -> bool:
    return isinstance(statistic.term, UnitCount) and statistic.filter is None
