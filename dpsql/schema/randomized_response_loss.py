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
class Said:
    """What the answers of one table lose by themselves: the ε of each column, and of `units`."""

    table: str
    columns: tuple[tuple[str, Fraction], ...]
    units: int

    @property
    def epsilon(self) -> Fraction:
        """What is lost of one unit, or of as many as are hidden together."""
        return self.units * sum((each for _, each in self.columns), Fraction(0))


def shows_answers(table: Table, apart: NeighborDistance) -> bool:
    """A row is a unit that is replaced, never missed, and how many there are is nobody's secret."""
    return apart.is_replacement and isinstance(table.ownership, RowUnit) and table.rows is not None


def said(table: str, columns: Iterable[Column], apart: NeighborDistance) -> Said:
    """What these columns of answers lose."""
    lost = tuple((c.name, c.response) for c in columns if c.response is not None)
    return Said(table, lost, apart.units)


def shown_answers(schema: Schema) -> Iterator[Said]:
    """What is lost beside the ledger, table by table: of those that have such columns."""
    for table in schema.tables.values():
        if shows_answers(table, schema.apart):
            found = said(table.shown, table.columns.values(), schema.apart)
            if found.columns:
                yield found
