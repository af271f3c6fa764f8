"""The most frequent key, where only it is shown: a choice among cells instead of all their counts.

SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1
"""

from __future__ import annotations

from typing import Final

from dpsql.plan.aggregate import FrequentKey
from dpsql.plan.bounded_release.cell_selection import CellChoice, FrequentCell, ListedCells
from dpsql.plan.bounded_release.estimator import ChosenValue, EstimatedColumn

FREQUENT_NOTE: Final = (
    "chosen without counts, with at most half the error in rank; "
    "beside count(*) in the SELECT list, counts are released and sorted"
)


def frequent_choice(
    frequent: FrequentKey,
) -> tuple[tuple[CellChoice], tuple[EstimatedColumn, ...]]:
    """The choice of the `frequent` key, and its column."""
    cells = ListedCells(frequent.key, frequent.values)
    choice = CellChoice(cells, None, FrequentCell(frequent.rows))
    return (choice,), (EstimatedColumn(frequent.column, ChosenValue(0, frequent.values)),)
