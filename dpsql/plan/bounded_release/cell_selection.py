"""Choices of cells: for each group a release chooses some cells privately, by their rows.

median(age)   with age in [0, 120]: a cell for each age, chosen by its rank
mode(ward)    with ward one of ER, GP, ICU: a cell for each ward, chosen by its rows
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Expression
from dpsql.privacy.domain import Value

MAX_LISTED: Final = 1000
"""The largest number of values to choose among; more take too long and have too few rows each."""


@dataclass(frozen=True, slots=True)
class EquidistantCells:
    """Cells of `width` steps each, which start at the lowest value of `value`."""

    value: Discretized
    width: int

    @property
    def count(self) -> int:
        """The number of cells."""
        return -(-(self.value.high - self.value.low + 1) // self.width)


@dataclass(frozen=True, slots=True)
class ListedCells:
    """A cell for each of the `values` of `argument`; rows with other values are in no cell."""

    argument: Expression
    values: tuple[Value, ...]

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.values)


Cells = EquidistantCells | ListedCells


@dataclass(frozen=True, slots=True)
class QuantileRanks:
    """Choose the cells of these quantiles, which increase."""

    quantiles: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Mode:
    """Choose the cell with the most rows."""


@dataclass(frozen=True, slots=True)
class CellChoice:
    """A choice of cells in each group, by the counts of the rows for which `filter` holds.

    A `filter` of None holds for all rows.
    """

    cells: Cells
    filter: Expression | None
    target: QuantileRanks | Mode

    @property
    def choices(self) -> int:
        """The number of cells that are chosen in each group."""
        match self.target:
            case QuantileRanks(quantiles=quantiles):
                return len(quantiles)
            case Mode():
                return 1
            case missing:
                assert_never(missing)
