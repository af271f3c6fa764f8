"""Random adversarial databases of a schema, tiny, each with its neighbors.

Values come from a pool that has values out of bounds, NULL, NaN and infinities. Keys repeat unless
they count as verified, references dangle, and units exceed every limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec import Struct

from dpsql.audit.databases.boundary_values import boundary_values
from dpsql.audit.databases.unit_ownership import Row, Rows, Unit, units_of_rows, without
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, EntityUnit, Public, Schema, Table
from dpsql.schema.sql_type import Integer, Uuid

_IDS = (1, 2, 3)

_LATER = 11
"""Where a key of `_IDS` is drawn once more, its row gets a key from here on."""

_DRAWS = 3


class NeighboringDatabases(Struct, frozen=True):
    """A database, two neighbors within it, and the units of the database that either lacks."""

    full: Rows
    lacks: tuple[frozenset[Unit], frozenset[Unit]]
    pair: tuple[Rows, Rows]

    @property
    def unit(self) -> Unit:
        """One of the units by which the two neighbors differ: all are of one kind."""
        return min((unit for gone in self.lacks for unit in gone), key=repr)


def neighboring_databases(
    schema: Schema,
    public: Rows,
    random: Random,
    verified: frozenset[str],
    distance: NeighborDistance | None = None,
) -> Iterator[NeighboringDatabases]:
    """Pairs of neighbors within a random database, `distance` from each other: one unit if None.

    Where units are replaced, both lack equally many units of the database, and no unit in common.
    `verified` are the private tables whose keys hold.
    """
    full = public | _private_rows(schema, public, random, verified)
    owners = units_of_rows(schema, full)
    units = sorted({u for owned in owners.values() for own in owned for u in own}, key=repr)
    chosen = [unit for unit in units if unit[0] != "row"]
    for name in schema.tables:
        rows = [unit for unit in units if unit[:2] == ("row", name)]
        # Any row that is a unit of its own is like any other of its table.
        chosen += random.sample(rows, min(3, len(rows)))
    if distance is None or distance == NeighborDistance():
        lacks = [(frozenset[Unit](), frozenset({unit})) for unit in chosen]
    else:
        lacks = list(_lacking(units, distance, random))
    for one, other in lacks:
        pair = without(full, owners, one), without(full, owners, other)
        yield NeighboringDatabases(full, (one, other), pair)


def _lacking(
    units: list[Unit], distance: NeighborDistance, random: Random
) -> Iterator[tuple[frozenset[Unit], frozenset[Unit]]]:
    """The units that either neighbor lacks, drawn several times for each kind of units."""
    kinds = dict.fromkeys(unit[:2] if unit[0] == "row" else unit[:1] for unit in units)
    for kind in [each for each in kinds for _ in range(_DRAWS)]:
        own = [unit for unit in units if unit[: len(kind)] == kind]
        size = min(distance.units, len(own) // 2 if distance.is_replacement else len(own))
        drawn = random.sample(own, distance.steps // distance.units * size)
        if drawn:
            lacking = frozenset(drawn[size:]) if distance.is_replacement else frozenset[Unit]()
            yield lacking, frozenset(drawn[:size])


def _private_rows(schema: Schema, public: Rows, random: Random, verified: frozenset[str]) -> Rows:
    rows_of: Rows = {}
    for table in schema.tables.values():
        if isinstance(table.ownership, Public):
            continue
        # Many rows of few units: limits of rows and groups are passed.
        count = random.choice([3, 6, 14, 30]) if _hops(table) or not table.key else 5
        rows = [_row(table, schema, public, random) for _ in range(count)]
        # Some rows twice: contribution limits must count them.
        rows += [random.choice(rows) for _ in range(random.choice([0, 0, 3]))]
        keyed = table.key and table.name in verified
        rows_of[table.name] = _keyed(table, rows) if keyed else rows
    return rows_of


def _hops(table: Table) -> int:
    own = table.ownership
    if isinstance(own, EntityUnit):
        return len(own.hops) + (table.key != (own.column,))
    return 0


def _keyed(table: Table, rows: list[Row]) -> list[Row]:
    """`rows` with unique keys: a row whose key is a repeated number gets a new number.

    So units have many rows. Of rows with any other repeated key, or a unit's, only the first stays.
    """
    names = list(table.columns)
    indices = [names.index(name) for name in table.key or ()]
    by_key: dict[Row, Row] = {}
    for row in rows:
        key = tuple(row[index] for index in indices)
        if None in key:
            continue
        if key in by_key and _names_rows(table):
            (index,), key = indices, (_LATER + len(by_key),)
            by_key[key] = (*row[:index], *key, *row[index + 1 :])
        by_key.setdefault(key, row)
    return list(by_key.values())


def _names_rows(table: Table) -> bool:
    """Whether the key of `table` is a single number, and identifies no unit."""
    key = table.key or ()
    return _hops(table) > 0 and len(key) == 1 and isinstance(table.columns[key[0]].type, Integer)


def _row(table: Table, schema: Schema, public: Rows, random: Random) -> Row:
    return tuple(_value(table, c, schema, public, random) for c in table.columns.values())


def _value(table: Table, column: Column, schema: Schema, public: Rows, random: Random) -> object:
    if random.random() < 0.08:
        return None
    if column.references is not None and column.references.table in public:
        target = schema.tables[column.references.table]
        index = list(target.columns).index(column.references.column)
        return random.choice([row[index] for row in public[target.name]] + [999])
    if _is_identity(table, column):
        # Units 1 to 3, rarely one without a parent row; keys repeat.
        identity = random.choice([*_IDS, *_IDS, 7])
        is_uuid = isinstance(column.type, Uuid)
        return f"00000000-0000-0000-0000-{identity:012d}" if is_uuid else identity
    return random.choice(boundary_values(column))


def _is_identity(table: Table, column: Column) -> bool:
    own = table.ownership
    return (
        column.references is not None
        or column.name in (table.key or ())
        or (isinstance(own, EntityUnit) and column.name in (own.column, *own.first_hop_columns))
    )
