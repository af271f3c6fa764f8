"""The input of the engine: rendered SQL, and the tables of key domains that it reads."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.schema.sql_type import SqlType

BATCH_TABLE: Final = "found of parts"
"""The table of the results of unit batches; no schema's table has a name with a space."""

CACHED_TABLE: Final = "sums"
"""The one table of a database of units' sums that an engine keeps."""

HASH_SPACE: Final = 2**64
"""The number of possible hashes of units; a unit batch has a range of them."""


class DomainTable(Struct, frozen=True):
    """A table of a key domain for the engine: `cell` numbers the cells, k0, k1 … hold the keys."""

    name: str
    types: tuple[SqlType, ...]
    cells: tuple[Cell, ...]


class Histogram(Struct, frozen=True):
    """SQL whose rows are group columns, a cell's number p, and the number of rows n in the cell.

    `salted` and `summed` are as in EngineQuery.
    """

    sql: str
    salted: bool
    summed: str | None = None


class ParameterizedSql(Struct, frozen=True):
    """The text of a generic plan, and the `values` of its parameters; those of a salt come before.

    An engine parses it once for all statements of the plan.
    """

    sql: str
    values: tuple[object, ...]


class EngineQuery(Struct, frozen=True):
    """SQL whose rows are group columns g0, g1 … and integers s0, s1 ….

    A group column is the number of a cell of `domains`, in their order, or a key that isn't listed.
    A `salted` query takes a fresh secret text as its parameter. `histograms`, one for each
    selection, are executed besides, with the same salt.

    Where `summed` is set, `sql` is executed for one unit batch after the other: for the units with
    hashes from the second parameter to the third. `summed` is then the SQL that sums the batches'
    results, in BATCH_TABLE.

    `parameterized` is the same as `sql`, and is executed instead; None if it has no parameters.
    """

    sql: str
    domains: tuple[DomainTable, ...]
    salted: bool
    histograms: tuple[Histogram, ...] = ()
    summed: str | None = None
    parameterized: ParameterizedSql | None = None


class BatchPolicy(Struct, frozen=True):
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


class UnitBatches(Struct, frozen=True):
    """The same integers as those of another query, batch by batch of the units."""

    query: EngineQuery
    policy: BatchPolicy


class CachedSums(Struct, frozen=True):
    """The same integers from units' sums in each of their groups, if an engine keeps these.

    `sums` is the SELECT that finds them for one batch of units, with parameters as those of a
    query in batches, and the rank of each group by the salt. `totals` limits and sums what is in
    `CACHED_TABLE` of the database `name`; it takes the same salt if it is `salted`. Statements of
    other limits, and other noise, have the same `sums`, and so the same name.
    """

    name: str
    sums: str
    totals: str
    salted: bool
    policy: BatchPolicy


class UnlimitedQuery(Struct, frozen=True):
    """The same integers while no limit can bind any unit: then `limited_rows` has no row.

    It reads rows of units that no limit binds, whatever else is there: should there be others, they
    are left out, and no unit counts for more.
    """

    limited_rows: str
    query: EngineQuery


class WithoutSidecar(Struct, frozen=True):
    """What is run in place of a query that reads `tables` in a sidecar, where they aren't there.

    A charge is never given back once the engine runs, so that a file which somebody deletes or
    replaces between charge and run must not fail what it was charged for. Which rows there are,
    whose they are, and every limit are the same: so are the sensitivities, and the noise.
    """

    tables: frozenset[str]
    query: EngineQuery
    batches: UnitBatches | None
