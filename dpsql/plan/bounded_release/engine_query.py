"""What the engine is handed: rendered SQL and the tables of key domains beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.schema.sql_type import SqlType

BATCH_TABLE: Final = "found of parts"
"""The table of what was found of parts of the units; no schema's table has a name with a space."""

HASH_SPACE: Final = 2**64
"""So many hashes of units there are, which a part has a range of."""


@dataclass(frozen=True, slots=True)
class DomainTable:
    """A table to hand to the engine: column `cell` numbers the cells, k0, k1 … hold them."""

    name: str
    types: tuple[SqlType, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """SQL for the engine: its rows are group columns, a cell's number p, and how many rows n."""

    sql: str
    salted: bool
    summed: str | None = None


@dataclass(frozen=True, slots=True)
class EngineQuery:
    """SQL for the engine: its rows are group columns g0, g1 … and integers s0, s1 ….

    A group column is the number of a cell of `domains`, in their order, or a key that isn't listed.
    A `salted` query takes a fresh secret text as its parameter. `histograms`, one for each
    selection, are read beside them, with the same salt.

    Where `summed` says how to sum what is FOUND, it is asked of the units part by part: of those
    with hashes from the second parameter to the third.
    """

    sql: str
    domains: tuple[DomainTable, ...]
    salted: bool
    histograms: tuple[Histogram, ...] = ()
    summed: str | None = None
