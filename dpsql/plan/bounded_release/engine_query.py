"""What the engine is handed: rendered SQL and the tables of key domains beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.schema.sql_type import SqlType

BATCH_TABLE: Final = "found of parts"
"""The table of the integers of all batches of units; no schema's table has a name with a space."""

HASH_SPACE: Final = 2**64
"""How many hashes of units there are: each batch has a range of them."""


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

    Where `summed` is a statement, the query is run once for each batch of the units, of those with
    hashes from the second parameter to the third; `summed` sums the rows of all batches.
    """

    sql: str
    domains: tuple[DomainTable, ...]
    salted: bool
    histograms: tuple[Histogram, ...] = ()
    summed: str | None = None


@dataclass(frozen=True, slots=True)
class BatchPolicy:
    """How many batches of units a release is worth, by the rows of the largest of its `tables`.

    A batch has at least `min_rows` rows, of those that conditions leave (`selectivity`), and there
    are at most `max_batches`, but more where each would have over `max_rows` rows. Where only the
    rows of some listed groups count, there are taken to be `rows_of_listed_groups` at most.
    """

    tables: tuple[str, ...]
    min_rows: int
    max_batches: int
    max_rows: int
    selectivity: Fraction
    rows_of_listed_groups: int | None = None


@dataclass(frozen=True, slots=True)
class UnitBatches:
    """The same integers as those of another query, batch by batch of the units."""

    query: EngineQuery
    policy: BatchPolicy


@dataclass(frozen=True, slots=True)
class WithoutSidecar:
    """What is run in place of a query that reads `tables` in a sidecar, where they aren't there.

    A charge is never given back once the engine runs, so that a file which somebody deletes or
    replaces between charge and run must not fail what it was charged for. Which rows there are,
    whose they are, and every limit are the same: so are the sensitivities, and the noise.
    """

    tables: frozenset[str]
    query: EngineQuery
    batches: UnitBatches | None
