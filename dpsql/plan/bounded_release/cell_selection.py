"""What a release chooses for each group, privately, by how many rows lie in each of some cells.

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
"""A choice among more values than these takes too long, and is of none of them."""


@dataclass(frozen=True, slots=True)
class EquidistantCells:
    """Cells of `width` steps each, from the lowest value on; `value` is measured from there."""

    value: Discretized
    width: int

    @property
    def count(self) -> int:
        """How many cells there are."""
        return -(-(self.value.high - self.value.low + 1) // self.width)


@dataclass(frozen=True, slots=True)
class ListedCells:
    """A cell for each of `values` of `argument`; other rows are in none."""

    argument: Expression
    values: tuple[Value, ...]

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.values)


Cells = EquidistantCells | ListedCells


@dataclass(frozen=True, slots=True)
class QuantileRanks:
    """The cells of these quantiles, which increase."""

    quantiles: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Mode:
    """The cell with the most rows."""


@dataclass(frozen=True, slots=True)
class CellChoice:
    """Cells of each group to choose, among those of the rows for which `filter` holds."""

    cells: Cells
    filter: Expression | None
    target: QuantileRanks | Mode

    @property
    def choices(self) -> int:
        """How many cells are chosen in each group."""
        match self.target:
            case QuantileRanks(quantiles=quantiles):
                return len(quantiles)
            case Mode():
                return 1
            case missing:
                assert_never(missing)
