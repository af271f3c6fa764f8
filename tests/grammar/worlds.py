"""Tiny adversarial databases of a schema, and their neighbours.

Values come from a pool that holds what bounds don't allow, NULL, NaN and infinities; keys repeat
unless they count as verified, references dangle, and units pass every limit. Which rows a unit
owns is walked here, in Python, without dpsql.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from dpsql.privacy.domain import coordinate, day
from dpsql.schema.model import Column, EntityUnit, Public, RowUnit, Schema, Table
from dpsql.schema.type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

Row = tuple[object, ...]
Rows = dict[str, list[Row]]
Unit = tuple[object, ...]
"""("row", table, place), or (kind, identity)."""

_IDS = (1, 2, 3)


@dataclass(frozen=True)
class Neighbours:
    """A database, and the same without one privacy unit."""

    full: Rows
    without: Rows
    unit: Unit


def neighbours(
    schema: Schema, public: Rows, random: Random, verified: frozenset[str]
) -> Iterator[Neighbours]:
    """A random database beside each of its neighbours with one unit less."""
    full = public | _private_rows(schema, public, random, verified)
    owners = {name: _owners(schema, full, name) for name in schema.tables}
    units = sorted({u for found in owners.values() for own in found for u in own}, key=repr)
    chosen = [unit for unit in units if unit[0] != "row"]
    for name in schema.tables:
        rows = [unit for unit in units if unit[:2] == ("row", name)]
        # Any row that is a unit of its own is like any other of its table.
        chosen += random.sample(rows, min(3, len(rows)))
    for unit in chosen:
        without = {
            name: [
                row
                for row, own in zip(rows, owners[name], strict=True)
                # A row that several units own, by a key that isn't unique, stays for the others.
                if own != frozenset({unit})
            ]
            for name, rows in full.items()
        }
        yield Neighbours(full, without, unit)


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
        found[table.name] = _unique(table, rows) if table.name in verified else rows
    return found


def _hops(table: Table) -> int:
    own = table.ownership
    if isinstance(own, EntityUnit):
        return len(own.hops) + (table.key != (own.column,))
    return 0


def _unique(table: Table, rows: list[Row]) -> list[Row]:
    names = list(table.columns)
    places = [names.index(name) for name in table.key or ()]
    kept: dict[Row, Row] = {}
    for row in rows:
        key = tuple(row[place] for place in places)
        if None not in key:
            kept.setdefault(key, row)
    return list(kept.values())


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
        return random.choice([*_IDS, *_IDS, 7])
    return random.choice(_pool(column))


def _is_identity(table: Table, column: Column) -> bool:
    own = table.ownership
    return (
        column.references is not None
        or column.name in (table.key or ())
        or (isinstance(own, EntityUnit) and column.name == own.column)
    )


def _pool(column: Column) -> list[object]:
    """Values within the declared domain, at its ends, just outside, and absurd ones."""
    match column.type:
        case Boolean():
            return [True, False]
        case Varchar():
            declared = list(column.values or ("x", "y"))
            return [*declared, *declared, "", "a", "A"]
        case Integer(bits=bits):
            low, high = _ends(column)
            inside = [low, high, (low + high) // 2, (low + 2 * high) // 3]
            limit = 2 ** (bits - 1)
            return [*map(int, inside * 3), int(low) - 1, int(high) + 1, -limit, limit - 1]
        case Decimal(precision=precision, scale=scale):
            low, high = _ends(column)
            step = Fraction(1, 10**scale)
            most = (10**precision - 1) * step
            inside = [low, high, round((low + high) / 2, scale), low + step]
            numbers = [*(inside * 3), low - step, high + step, -most, most]
            return [_decimal_text(Fraction(number), scale) for number in numbers]
        case Double():
            low, high = map(float, _ends(column))
            inside = [low, high, (low + high) / 3, -0.0, 5e-324]
            return [*(inside * 3), low - 1, high + 1, math.nan, math.inf, -math.inf, 1e308]
        case Date():
            low, high = map(int, _ends(column))
            inside = [day(low), day(high), day((low + high) // 2), day(low + 31)]
            return [*(inside * 3), day(low - 1), day(high + 1), "infinity", "-infinity"]
        case Timestamp():
            return [dt.datetime(2024, 1, 1), "infinity"]  # noqa: DTZ001
        case other:
            raise TypeError(f"no pool for {other}")


def _ends(column: Column) -> tuple[Fraction, Fraction]:
    if column.bounds is None:
        return Fraction(0), Fraction(9)
    low, high = (coordinate(bound) for bound in column.bounds)
    assert low is not None
    assert high is not None
    return low, high


def _decimal_text(value: Fraction, scale: int) -> str:
    scaled = int(value * 10**scale)
    sign, digits = ("-" if scaled < 0 else ""), f"{abs(scaled):0{scale + 1}d}"
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits


def _owners(schema: Schema, rows: Rows, name: str) -> list[frozenset[Unit]]:
    """The units that each row belongs to: none if its chain breaks, several if keys repeat."""
    table = schema.tables[name]
    match table.ownership:
        case Public():
            return [frozenset() for _ in rows[name]]
        case RowUnit():
            return [frozenset({("row", name, place)}) for place in range(len(rows[name]))]
        case EntityUnit(kind=kind, hops=hops, column=column):
            found: list[frozenset[Unit]] = []
            for row in rows[name]:
                values = {_cell(table, row, hops[0].column if hops else column)}
                for number, hop in enumerate(hops):
                    parent = schema.tables[hop.table]
                    onward = hops[number + 1].column if number + 1 < len(hops) else column
                    values = {
                        _cell(parent, other, onward)
                        for other in rows[hop.table]
                        if _cell(parent, other, hop.key) in values - {None}
                    }
                found.append(frozenset((kind, value) for value in values - {None}))
            return found


def _cell(table: Table, row: Row, column: str) -> object:
    return row[list(table.columns).index(column)]
