"""Clean databases of a schema: within bounds, keys unique, references sound, few rows per unit."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

import yaml
from neighbor_search.public_rows import PUBLIC

from dpsql.audit.databases.boundary_values import ends
from dpsql.audit.databases.unit_ownership import Row, Rows
from dpsql.privacy.domain import day, timestamp
from dpsql.schema.model import Column, EntityUnit, Public, Schema, Table
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

UNITS = 80
MOST_CHILDREN = {"visits": 3, "tests": 1}
"""How many rows of a table reference one row; two of most tables."""

TEXTS: dict[str, list[str]] = yaml.safe_load(
    Path(__file__).with_name("texts.yaml").read_text(encoding="utf-8")
)
"""What undeclared texts are made of, by column."""


def clean_rows(schema: Schema) -> Rows:
    """Rows of every table of `schema`, always the same."""
    random = Random(f"clean {schema.dataset}")
    rows: Rows = dict(PUBLIC[schema.dataset])
    for table in _parents_first(schema):
        rows[table.name] = list(_rows(table, schema, rows, random))
    return rows


def _parents_first(schema: Schema) -> Iterator[Table]:
    def depth(table: Table) -> int:
        own = table.ownership
        if not isinstance(own, EntityUnit):
            return 0
        return len(own.hops) + (table.key != (own.column,))

    private = [t for t in schema.tables.values() if not isinstance(t.ownership, Public)]
    yield from sorted(private, key=depth)


def _rows(table: Table, schema: Schema, rows: Rows, random: Random) -> Iterator[Row]:
    """As many rows as are declared, or as there are units, or some for each that is referenced."""
    own = table.ownership
    ids = count(1)
    if not isinstance(own, EntityUnit) or table.key == (own.column,):
        for _ in range(UNITS if table.rows is None else table.rows):
            yield tuple(
                _value(table, column, schema, rows, random, next(ids), {})
                for column in table.columns.values()
            )
        return
    parent, pairs = _parent(table, schema)
    places = [(name, list(parent.columns).index(key)) for name, key in pairs]
    for row in rows[parent.name]:
        for _ in range(random.randint(0, MOST_CHILDREN.get(table.name, 2))):
            number, given = next(ids), {name: row[place] for name, place in places}
            yield tuple(
                _value(table, column, schema, rows, random, number, given)
                for column in table.columns.values()
            )


def _parent(table: Table, schema: Schema) -> tuple[Table, tuple[tuple[str, str], ...]]:
    """The table that a row's chain to its unit leads to, by which columns, to which of its own."""
    own = table.ownership
    assert isinstance(own, EntityUnit)
    if own.hops:
        hop = own.hops[0]
        return schema.tables[hop.table], hop.pairs
    kind = schema.units[own.kind]
    return schema.tables[kind.table], ((own.column, kind.key),)


def _value(
    table: Table,
    column: Column,
    schema: Schema,
    rows: Rows,
    random: Random,
    number: int,
    given: dict[str, object],
) -> object:
    if column.name in given:
        return given[column.name]
    own = table.ownership
    key = [n for n in table.key or () if len(table.key or ()) == 1 or not _refers(table, n)]
    if column.name in key or (isinstance(own, EntityUnit) and column.name == own.column):
        return f"{column.name} {number}" if isinstance(column.type, Varchar) else number
    if column.nullable and random.random() < 0.08:
        return None
    if column.references is not None:
        target = schema.tables[column.references.table]
        place = list(target.columns).index(column.references.column)
        return random.choice(rows[target.name])[place]
    return _plain(column, random)


def _refers(table: Table, name: str) -> bool:
    return table.columns[name].references is not None


def _plain(column: Column, random: Random) -> object:
    match column.type:
        case Boolean():
            return random.random() < 0.6
        case Varchar():
            return random.choice(list(column.values or TEXTS[column.name]))
        case Integer():
            low, high = ends(column)
            return random.randint(int(low), int(high))
        case Decimal(scale=scale):
            low, high = ends(column)
            cents = random.randint(int(low * 10**scale), int(high * 10**scale))
            return str(decimal.Decimal(cents).scaleb(-scale))
        case Double():
            low, high = ends(column)
            return round(random.uniform(float(low), float(high)), 3)
        case Date():
            low, high = ends(column)
            return day(random.randint(int(low), int(high)))
        case Timestamp():
            low, high = ends(column)
            return timestamp(random.randint(int(low), int(high)))
        case other:
            raise TypeError(f"no clean values of type {other}")
