"""Random adversarial databases of a schema, tiny, each beside its neighbours.

Values come from a pool that holds what bounds don't allow, NULL, NaN and infinities; keys repeat
unless they count as verified, references dangle, and units pass every limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from dpsql.audit.databases.boundary_values import boundary_values
from dpsql.audit.databases.unit_ownership import Row, Rows, Unit, units_of_rows, without
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, EntityUnit, Public, Schema, Table
from dpsql.schema.sql_type import Integer, Uuid

_IDS = (1, 2, 3)

_LATER = 11
"""Keys from here on are given where one of `_IDS` was drawn before."""

_DRAWS = 3


@dataclass(frozen=True, slots=True)
class NeighboringDatabases:
    """A database, the units that each of two neighbours lacks of it, and these two."""

    full: Rows
    lacks: tuple[frozenset[Unit], frozenset[Unit]]
    pair: tuple[Rows, Rows]

    @property
    def unit(self) -> Unit:
        """One of those by which they differ: all are of one kind."""
        return min((unit for gone in self.lacks for unit in gone), key=repr)


def neighboring_databases(
    schema: Schema,
    public: Rows,
    random: Random,
    verified: frozenset[str],
    distance: NeighborDistance | None = None,
) -> Iterator[NeighboringDatabases]:
    """A random database's neighbours `distance` from each other, by default by one unit of it.

    Where units are replaced both lack equally many units of the database, and none the other's.
    """
    full = public | _private_rows(schema, public, random, verified)
    found = units_of_rows(schema, full)
    units = sorted({u for owned in found.values() for own in owned for u in own}, key=repr)
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
        pair = without(full, found, one), without(full, found, other)
        yield NeighboringDatabases(full, (one, other), pair)


def _lacking(
    units: list[Unit], distance: NeighborDistance, random: Random
) -> Iterator[tuple[frozenset[Unit], frozenset[Unit]]]:
    """Some units of each kind, drawn twice for each kind, in two parts of one size if replaced."""
    kinds = dict.fromkeys(unit[:2] if unit[0] == "row" else unit[:1] for unit in units)
    for kind in [each for each in kinds for _ in range(_DRAWS)]:
        own = [unit for unit in units if unit[: len(kind)] == kind]
        size = min(distance.units, len(own) // 2 if distance.is_replacement else len(own))
        drawn = random.sample(own, distance.steps // distance.units * size)
        if drawn:
            lacking = frozenset(drawn[size:]) if distance.is_replacement else frozenset[Unit]()
            yield lacking, frozenset(drawn[:size])


def _private_rows(schema: Schema, public: Rows, random: Random, verified: frozenset[str]) -> Rows:
    found: Rows = {}
    for table in schema.tables.values():
        if isinstance(table.ownership, Public):
            continue
        # Many rows of few units: limits of rows and groups are passed.
        count = random.choice([3, 6, 14, 30]) if _hops(table) or not table.key else 5
        rows = [_row(table, schema, public, random) for _ in range(count)]
        # Some rows twice: contribution limits must count them.
        rows += [random.choice(rows) for _ in range(random.choice([0, 0, 3]))]
        keyed = table.key and table.name in verified
        found[table.name] = _keyed(table, rows) if keyed else rows
    return found


def _hops(table: Table) -> int:
    own = table.ownership
    if isinstance(own, EntityUnit):
        return len(own.hops) + (table.key != (own.column,))
    return 0


def _keyed(table: Table, rows: list[Row]) -> list[Row]:
    """Rows whose keys hold. A number that was there gets another, so that units have many rows.

    Other keys, and those that are units, leave their first row only.
    """
    names = list(table.columns)
    places = [names.index(name) for name in table.key or ()]
    kept: dict[Row, Row] = {}
    for row in rows:
        key = tuple(row[place] for place in places)
        if None in key:
            continue
        if key in kept and _names_rows(table):
            (place,), key = places, (_LATER + len(kept),)
            kept[key] = (*row[:place], *key, *row[place + 1 :])
        kept.setdefault(key, row)
    return list(kept.values())


def _names_rows(table: Table) -> bool:
    """A single number is the key, and nobody's unit."""
    key = table.key or ()
    return _hops(table) > 0 and len(key) == 1 and isinstance(table.columns[key[0]].type, Integer)


def _row(table: Table, schema: Schema, public: Rows, random: Random) -> Row:
    return tuple(_value(table, c, schema, public, random) for c in table.columns.values())


def _value(table: Table, column: Column, schema: Schema, public: Rows, random: Random) -> object:
    if random.random() < 0.08:
        return None
    if column.references is not None and column.references.table in public:
        target = schema.tables[column.references.table]
        place = list(target.columns).index(column.references.column)
        return random.choice([row[place] for row in public[target.name]] + [999])
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
