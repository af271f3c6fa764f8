"""The most frequent keys, where only they are shown: choices among cells, not all their counts.

SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1
SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 2
"""

from __future__ import annotations

from typing import Final

from dpsql.plan.aggregate import FrequentKey
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    FrequentCell,
    ListedCells,
    TopCells,
)
from dpsql.plan.bounded_release.estimator import ChosenValue, EstimatedColumn

FREQUENT_NOTE: Final = (
    "chosen without counts, with at most half the error in rank; "
    "beside count(*) in the SELECT list, counts are released and sorted"
)


def frequent_choice(
    frequent: FrequentKey,
) -> tuple[tuple[CellChoice], tuple[EstimatedColumn, ...]]:
    """The choice of the `frequent` key, or of several, and a column for each."""
    cells = ListedCells(frequent.key, frequent.values)
    count = len(frequent.columns)
    target = FrequentCell(frequent.rows) if count == 1 else TopCells(frequent.rows, count)
    shown = tuple(
        EstimatedColumn(column, ChosenValue(index, frequent.values))
        for index, column in enumerate(frequent.columns)
    )
    return (CellChoice(cells, None, target),), shown
