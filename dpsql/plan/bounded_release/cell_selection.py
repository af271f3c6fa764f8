"""Choices of cells: for each group a release chooses some cells privately, by their rows.

median(age)   with age in [0, 120]: a cell for each age, chosen by its rank
mode(ward)    with ward one of ER, GP, ICU: a cell for each ward, chosen by its rows
price         of public prices: a cell for each price, chosen by price * rows with bid >= price
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, assert_never

from msgspec import Struct

from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Comparison, Expression
from dpsql.privacy.domain import Value

MAX_LISTED: Final = 1000
"""The largest number of values to choose among; more take too long and have too few rows each."""


class EquidistantCells(Struct, frozen=True):
    """Cells of `width` steps each, which start at the lowest value of `value`."""

    value: Discretized
    width: int

    @property
    def count(self) -> int:
        """The number of cells."""
        return -(-(self.value.high - self.value.low + 1) // self.width)


class ListedCells(Struct, frozen=True):
    """A cell for each of the `values` of `argument`; rows with other values are in no cell.

    None stands for NULL.
    """

    argument: Expression
    values: tuple[Value | None, ...]

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.values)


class ThresholdCells(Struct, frozen=True):
    """A cell for each of `thresholds`: a row is in the last one that its `argument` passes.

    It passes a threshold if `argument comparison threshold` holds. They stand in an order in which
    a row that passes one passes all before it. A row that passes none is in no cell.
    """

    argument: Expression
    comparison: Comparison
    thresholds: tuple[Value, ...]

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.thresholds)


Cells = EquidistantCells | ListedCells | ThresholdCells


class QuantileRanks(Struct, frozen=True):
    """Choose the cells of these quantiles, which increase."""

    quantiles: tuple[Fraction, ...]


class Mode(Struct, frozen=True):
    """Choose the cell with the most rows."""


class FrequentCell(Struct, frozen=True):
    """Choose the cell with the most rows.

    Of each unit at most `rows` rows of one cell count, of however many cells: it is a count of each
    group, where for a mode all of a unit's rows may be in one cell, and are limited together.
    """

    rows: int


class TopCells(Struct, frozen=True):
    """Choose the `count` cells with the most rows, one after the other, none of them twice.

    There are more cells than that. Of each unit at most `rows` rows of one cell count, of however
    many cells, as for a `FrequentCell`.
    """

    rows: int
    count: int


class CountedCells(Struct, frozen=True):
    """Choose the `count` cells with the most rows, as `TopCells` are chosen, and count their rows.

    The choice has `choice_share` of the loss, and the noise of the counts has the rest.
    """

    rows: int
    count: int
    choice_share: Fraction


class ThresholdScores(Struct, frozen=True):
    """Choose the candidate of the greatest score, its weight times the rows passing its threshold.

    Those of candidate i are the rows in the cell `first_cells[i]` and in all cells after it; where
    that is the number of cells, there are none. `weights` are in units of `step`.
    """

    first_cells: tuple[int, ...]
    weights: tuple[int, ...]
    step: Fraction


class CellChoice(Struct, frozen=True):
    """A choice of cells in each group, by the counts of the rows for which `filter` holds.

    A `filter` of None holds for all rows.
    """

    cells: Cells
    filter: Expression | None
    target: QuantileRanks | Mode | FrequentCell | TopCells | CountedCells | ThresholdScores

    @property
    def draws_rows(self) -> bool:
        """Of a unit's rows in all cells together so many are drawn, by a hash."""
        return not isinstance(self.target, FrequentCell | TopCells | CountedCells)

    @property
    def choices(self) -> int:
        """The number of cells, or of candidates, that are chosen in each group; and of counts."""
        match self.target:
            case QuantileRanks(quantiles=quantiles):
                return len(quantiles)
            case TopCells(count=count):
                return count
            case CountedCells(count=count):
                return 2 * count
            case Mode() | FrequentCell() | ThresholdScores():
                return 1
            case missing:
                assert_never(missing)
