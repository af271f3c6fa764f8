"""The databases on which an audit runs a statement: a universe of units, and all pairs over it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

from msgspec import Struct

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.candidate_units import (
    PlanConstants,
    candidates,
    kinds,
    public_table_rows,
)
from dpsql.audit.databases.database_batch import DatabaseBatch
from dpsql.audit.databases.exhaustive_databases import Database, pairs
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.audit.databases.universe import Universe, listed_units
from dpsql.errors import BadParameter
from dpsql.plan.operator import Release, Scan
from dpsql.plan.traversal import operators
from dpsql.schema.model import Neighbors, Public, Schema
from dpsql.session.compile.compiled import CompiledStatement, compile_sql
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.session.compile.loss_conversion import query_loss

MAX_PAIRS = 1_000_000


class Size(Struct, frozen=True):
    """The size of an enumeration.

    It has `units` different units, each `copies` times, databases of `min_units` to `max_units` of
    them, and all their neighbors `distance` units away. With `around`, one of two neighbors has
    just so many units instead. `strict`: values are of declared domains. `universe` has units in
    place of those that would be generated.
    """

    units: int = 10
    copies: int = 1
    min_units: int = 1
    max_units: int = 3
    distance: int = 1
    strict: bool = False
    seed: int = 1
    around: int | None = None
    universe: Universe | None = None

    def of_larger(self, relation: Neighbors) -> Sequence[int]:
        """The numbers of units of the larger of two neighbors, or of both if they are equal.

        Raises BadParameter if no database is large enough to have a neighbor.
        """
        smallest, largest = self.min_units, self.max_units
        if self.around is not None:
            smallest = largest = self.around
        if not 1 <= self.distance <= largest or not 0 <= smallest <= largest:
            raise BadParameter(
                f"databases of {smallest} to {largest} units"
                f" have no neighbours {self.distance} apart",
                hint="ask for databases of at least so many units",
            )
        if self.around is None:
            return range(max(smallest, 1), largest + 1)
        # What k units are added to is what they are removed from, seen from the other neighbor.
        added = [self.around + self.distance] * (relation is Neighbors.ADD_REMOVE)
        return [self.around, *added]


class SearchSpace(Struct, frozen=True):
    """Enumerated databases: `worlds` by number, and the numbers of neighbors in `pairs`.

    `pieces` are the rows of each unit, `members` the indices of each database's pieces.
    """

    worlds: DatabaseBatch
    pieces: tuple[Rows, ...]
    members: tuple[tuple[int, ...], ...]
    pairs: tuple[tuple[int, int], ...]

    def units(self, world: int) -> list[Rows]:
        """The rows of each unit of the database `world`."""
        return [self.pieces[piece] for piece in self.members[world]]


def compiled(sql: str, schema: Schema, epsilon: Fraction) -> CompiledStatement:
    """`sql` as a session prepares it, over synthetic public rows; every declared key holds."""
    private = (t.name for t in schema.tables.values() if not isinstance(t.ownership, Public))
    shown = DatabaseBatch(schema, public_table_rows(schema), [], [()])
    shown.load(0)
    facts = WorldFacts(schema, shown.connection, frozenset(private))
    return with_deep_stack(
        lambda: compile_sql(sql, schema, facts, query_loss(schema, epsilon), "synthetic")
    )


def search_space(release: Release, schema: Schema, relation: Neighbors, size: Size) -> SearchSpace:
    """All databases of `size` that differ in what `release` reads, and all pairs of neighbors."""
    sizes, public = size.of_larger(relation), public_table_rows(schema)
    constants = plan_constants(release, schema, is_strict=size.strict)
    if size.universe is None:
        units = candidates(schema, constants, public, size.units, size.copies, Random(size.seed))
    else:
        units = listed_units(schema, constants, size.universe)
    copies = [len(same) for same in units]
    pieces = tuple(piece for same in units for piece in same)
    numbers: dict[Database, int] = {}
    neighbors: list[tuple[int, int]] = []
    for pair in pairs(copies, sizes, size.distance, relation):
        one, other = (numbers.setdefault(database, len(numbers)) for database in pair)
        neighbors.append((one, other))
        if len(neighbors) > MAX_PAIRS:
            raise BadParameter(
                f"there are more than {MAX_PAIRS} pairs of neighbours",
                hint="ask for fewer units, or for smaller databases",
            )
    members = tuple(_pieces(database, copies) for database in numbers)
    return SearchSpace(
        DatabaseBatch(schema, public, pieces, members), pieces, members, tuple(neighbors)
    )


def plan_constants(release: Release, schema: Schema, *, is_strict: bool) -> PlanConstants:
    """The kind of the units of `release`, and the columns that it reads."""
    kind = unit_kind(release.source)
    assert kind is not None
    assert kind in kinds(schema)
    return PlanConstants(kind, _read(release), is_strict)


def _read(release: Release) -> dict[str, frozenset[str]]:
    """The columns of each table that `release` reads."""
    columns: dict[str, frozenset[str]] = {}
    for plan in operators(release):
        if isinstance(plan, Scan):
            names = frozenset(column.name for column in plan.columns)
            columns[plan.table.name] = columns.get(plan.table.name, frozenset()) | names
    return columns


def _pieces(database: Database, copies: list[int]) -> tuple[int, ...]:
    """The indices of a database's pieces: of each unit, its first copies."""
    pieces: list[int] = []
    start = 0
    for own, available in zip(database, copies, strict=True):
        pieces += range(start, start + own)
        start += available
    return tuple(pieces)
