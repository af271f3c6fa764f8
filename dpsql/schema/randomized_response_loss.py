"""Tables whose randomised answers are shown without noise, and what is lost by that.

No ledger has it: what an answer says was drawn before it came, and is lost once, however often and
however it is asked for. A unit's answers in several columns lose the sum of their ε, and several
units that are hidden together lose each their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, RowUnit, Schema, Table


@dataclass(frozen=True, slots=True)
class LocalLoss:
    """What the answers of one table lose by themselves: the ε of each column, and of `units`."""

    table: str
    columns: tuple[tuple[str, Fraction], ...]
    units: int

    @property
    def epsilon(self) -> Fraction:
        """What is lost of one unit, or of as many as are hidden together."""
        return self.units * sum((each for _, each in self.columns), Fraction(0))


def releases_responses_exactly(table: Table, distance: NeighborDistance) -> bool:
    """A row is a unit that is replaced, never missed, and how many there are is nobody's secret."""
    return (
        distance.is_replacement and isinstance(table.ownership, RowUnit) and table.rows is not None
    )


def local_loss(table: str, columns: Iterable[Column], distance: NeighborDistance) -> LocalLoss:
    """What these columns of answers lose."""
    lost = tuple((c.name, c.response) for c in columns if c.response is not None)
    return LocalLoss(table, lost, distance.units)


def local_losses(schema: Schema) -> Iterator[LocalLoss]:
    """What is lost beside the ledger, table by table: of those that have such columns."""
    for table in schema.tables.values():
        if releases_responses_exactly(table, schema.neighbor_distance):
            found = local_loss(table.display_name, table.columns.values(), schema.neighbor_distance)
            if found.columns:
                yield found
