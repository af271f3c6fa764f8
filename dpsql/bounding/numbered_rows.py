"""Rows of a unit that are drawn by the numbers that a sidecar stores beside them.

Of a unit's rows in a group so many count, where cells are chosen by rows. Which ones is decided as
its groups are (`group_choice`): by hashes of what is computed; or, where all of a table's rows are
asked for by values of one column, by their numbers in an order of the unit's own that was made with
the sidecar: the first so many of those that have a value. It is the same law.
"""

from __future__ import annotations

from dpsql.analysis.lineage.row_source import RowSource
from dpsql.engine.sidecar.row_columns import COUNT_CAP
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.cell_selection import CellChoice, EquidistantCells
from dpsql.plan.expression import Column
from dpsql.schema.sidecar_columns import group_count_columns, range_checked_columns


def number_column(contributions: Contributions, rows: RowSource, max_rows: int) -> str | None:
    """The column by whose values rows are numbered that choose those of all cells; None if none.

    A number of COUNT_CAP stands for more, too.
    """
    if not rows.is_complete or len(contributions.keys) != 1 or max_rows >= COUNT_CAP:
        return None
    (key,) = contributions.keys
    column = _stored(key.expression, rows)
    if column is None or column.name not in group_count_columns(rows.scan.table):
        return None
    choices = contributions.cell_choices
    all_are = bool(choices) and all(drawn_value(choice, rows) is not None for choice in choices)
    return column.name if all_are else None


def drawn_value(choice: CellChoice, rows: RowSource) -> Column | None:
    """The table's column that a row's cell follows from, where so many rows of each unit are drawn.

    It has bounds, and the sidecar tells of it whether all values are there, and within them.
    """
    if not choice.draws_rows or choice.filter is not None:
        return None
    if not isinstance(choice.cells, EquidistantCells):
        return None
    column = _stored(choice.cells.value.argument, rows)
    names = {each.name for each in range_checked_columns(rows.scan.table)}
    return column if column is not None and column.name in names else None


def _stored(expression: object, rows: RowSource) -> Column | None:
    """The table's column that `expression` is; None of what is computed."""
    return rows.columns.get(expression) if isinstance(expression, Column) else None
