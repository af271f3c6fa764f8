"""Tables whose randomised answers are shown without noise, and the privacy loss of these answers.

No ledger charges that loss: the answers were randomised before they reached dpsql, and lose their ε
once, however often and however they are queried. A unit's answers in several columns lose the sum
of their ε; of several units that are hidden together, each loses its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct

from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, RowUnit, Schema, Table


class LocalLoss(Struct, frozen=True):
    """The loss of one table's answers: each column's ε, of `units` that are hidden together."""

    table: str
    columns: tuple[tuple[str, Fraction], ...]
    units: int

    @property
    def epsilon(self) -> Fraction:
        """The ε of all these columns, for all units that are hidden together."""
        return self.units * sum((each for _, each in self.columns), Fraction(0))


def releases_responses_exactly(table: Table, distance: NeighborDistance) -> bool:
    """Whether rows are units that neighbours replace, not remove, and their number is public."""
    return (
        distance.is_replacement and isinstance(table.ownership, RowUnit) and table.rows is not None
    )


def local_loss(table: str, columns: Iterable[Column], distance: NeighborDistance) -> LocalLoss:
    """The loss of those of `columns` that hold randomised answers."""
    losses = tuple((c.name, c.local_epsilon) for c in columns if c.local_epsilon is not None)
    return LocalLoss(table, losses, distance.units)


def local_losses(schema: Schema) -> Iterator[LocalLoss]:
    """The loss that no ledger charges, of each table whose randomised answers are shown exactly."""
    for table in schema.tables.values():
        if releases_responses_exactly(table, schema.neighbor_distance):
            loss = local_loss(table.display_name, table.columns.values(), schema.neighbor_distance)
            if loss.columns:
                yield loss
