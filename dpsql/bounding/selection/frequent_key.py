"""The most frequent keys, where only they are shown: choices among cells, not all their counts.

SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 1
SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 2
SELECT ward, count(*) FROM visits GROUP BY ward ORDER BY count(*) DESC LIMIT 2
"""

from __future__ import annotations

from typing import Final

from dpsql.plan.aggregate import FrequentKey
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    CountedCells,
    FrequentCell,
    ListedCells,
    TopCells,
)
from dpsql.plan.bounded_release.estimator import CellCount, ChosenValue, EstimatedColumn

_CHOSEN: Final = (
    "chosen without counts, with at most half the error in rank; "
    "counts are shown by count(*) in the SELECT list"
)


def frequent_notes(frequent: FrequentKey) -> tuple[str, ...]:
    """What EXPLAIN says of the choice, instead of limits on all of a unit's rows."""
    if frequent.counted is None:
        return (_CHOSEN,)
    share = frequent.counted.choice_share
    choice = f"chosen with {share} of the loss, then counted with the rest"
    return (f"{choice}; counts of all keys, sorted, are off by more",)


def frequent_choice(
    frequent: FrequentKey, *, nonnegative: bool
) -> tuple[tuple[CellChoice], tuple[EstimatedColumn, ...]]:
    """The choice of the `frequent` key, or of several, and a column for each.

    `nonnegative` counts are 0 at least.
    """
    cells = ListedCells(frequent.key, frequent.values)
    count, counted = len(frequent.columns), frequent.counted
    target: FrequentCell | TopCells | CountedCells
    target = FrequentCell(frequent.rows) if count == 1 else TopCells(frequent.rows, count)
    shown = tuple(
        EstimatedColumn(column, ChosenValue(index, frequent.values))
        for index, column in enumerate(frequent.columns)
    )
    if counted is not None:
        target = CountedCells(frequent.rows, count, counted.choice_share)
        minimum = 0 if nonnegative else None
        shown += tuple(
            EstimatedColumn(column, CellCount(count + index, minimum))
            for index, column in enumerate(counted.columns)
        )
    return (CellChoice(cells, None, target),), shown
