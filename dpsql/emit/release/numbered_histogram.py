"""Counts of cells of the rows that are drawn of each unit by the numbers that are stored with them.

Of a unit's rows in a group the first R count that have a cell, by their numbers from 1 on. A row
whose number is no more than R is among them, whatever others there are. Another is only where rows
before it have none.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contributions import group_names, select_from
from dpsql.emit.release.histogram import added, counted, in_cells, is_known
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.column_names import CELL_NUMBER, UNIT

_POSITION = "position"


def numbered_histogram(
    limited: LimitGroups, number: int, numbered: exp.Select, later: exp.Select | None, order: str
) -> exp.Select:
    """The rows in each cell of selection `number`: those `numbered` up to the limit, which count.

    `later` are all rows of units that may have others that count, with the column `order` of their
    numbers; None if there are none.
    """
    terms = limited.contributions
    names, choice = group_names(terms), terms.cell_choices[number]
    rows = in_cells(numbered, names, number, choice, [])
    first = counted(select_from(rows, [exp.Star()]), names)
    if later is None:
        return first
    own: list[exp.Expr] = [column_ref(UNIT), column_ref(order)]
    known = select_from(in_cells(later, names, number, choice, own), [exp.Star()])
    position = exp.Window(
        this=exp.Anonymous(this="row_number", expressions=[]),
        partition_by=[column_ref(UNIT), *map(column_ref, names)],
        order=exp.Order(expressions=[exp.Ordered(this=column_ref(order), nulls_first=False)]),
    )
    ranked = select_from(
        known.where(is_known(column_ref(CELL_NUMBER)), copy=False),
        [exp.Star(), with_alias(position, _POSITION)],
    )
    max_rows = integer(limited.source.rows_per_group)
    moved_up = select_from(ranked, [exp.Star()]).where(
        exp.LTE(this=column_ref(_POSITION), expression=max_rows),
        exp.GT(this=column_ref(order), expression=max_rows.copy()),
        copy=False,
    )
    return added(names, first, counted(moved_up, names))
