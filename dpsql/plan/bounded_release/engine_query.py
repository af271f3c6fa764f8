"""The input of the engine: rendered SQL, and the tables of key domains that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.schema.sql_type import SqlType

BATCH_TABLE: Final = "found of parts"
"""The table of the results of unit batches; no schema's table has a name with a space."""

HASH_SPACE: Final = 2**64
"""The number of possible hashes of units; a unit batch has a range of them."""


@dataclass(frozen=True, slots=True)
class DomainTable:
    """A table of a key domain for the engine: `cell` numbers the cells, k0, k1 … hold the keys."""

    name: str
    types: tuple[SqlType, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """SQL whose rows are group columns, a cell's number p, and the number of rows n in the cell.

    `salted` and `summed` are as in EngineQuery.
    """

    sql: str
    salted: bool
    summed: str | None = None


@dataclass(frozen=True, slots=True)
class EngineQuery:
    """SQL whose rows are group columns g0, g1 … and integers s0, s1 ….

    A group column is the number of a cell of `domains`, in their order, or a key that isn't listed.
    A `salted` query takes a fresh secret text as its parameter. `histograms`, one for each
    selection, are executed besides, with the same salt.

    Where `summed` is set, `sql` is executed for one unit batch after the other: for the units with
    hashes from the second parameter to the third. `summed` is then the SQL that sums the batches'
    results, in BATCH_TABLE.
    """

    sql: str
    domains: tuple[DomainTable, ...]
    salted: bool
    histograms: tuple[Histogram, ...] = ()
    summed: str | None = None
