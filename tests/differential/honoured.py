"""Whether a database is as its schema says: answers without noise show what is declared falsely."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from differential.world import World

from dpsql.schema.model import Column, EntityUnit, Schema, Table

Fault = tuple[str, str, list[object]]
"""What would be false, and the query with its parameters that has a row if it is."""


def violations(data: World) -> list[str]:
    """What is declared of `data` and isn't so: values, bounds, NULLs, keys, references, limits."""
    return [
        what
        for table in data.schema.tables.values()
        for what, sql, parameters in _faults(table, data.schema)
        if data.connection.execute(f"{sql} LIMIT 1", parameters).fetchall()
    ]


def _faults(table: Table, schema: Schema) -> Iterator[Fault]:
    rows = f'SELECT 1 FROM "{table.name}" AS t'
    for column in table.columns.values():
        for what, condition, parameters in _of_values(column):
            yield f"{table.name}.{column.name} {what}", f"{rows} WHERE {condition}", parameters
    if table.key is not None:
        key = ", ".join(f'"{name}"' for name in table.key)
        yield f"{table.name} is unique", f"{rows} GROUP BY {key} HAVING count(*) > 1", []
    if isinstance(table.ownership, EntityUnit):
        unit, limits = table.ownership, table.limits
        most = min(limits.rows, limits.rows_per_group, limits.groups)
        walked, last = rows, "t"
        for number, hop in enumerate(unit.hops):
            met = _equal(hop.pairs, last, f"p{number}")
            walked, last = f'{walked} JOIN "{hop.table}" AS p{number} ON {met}', f"p{number}"
        counted = f'{walked} GROUP BY {last}."{unit.column}" HAVING count(*) > {most}'
        yield f"{table.name} has few rows of a unit", counted, []
        pairs = unit.hops[0].pairs if unit.hops else ((unit.column, _entity(unit, schema)[1]),)
        to = unit.hops[0].table if unit.hops else _entity(unit, schema)[0]
        yield _reference(table.name, to, pairs)


def _of_values(column: Column) -> Iterator[Fault]:
    name = f'"{column.name}"'
    if not column.nullable:
        yield "isn't NULL", f"{name} IS NULL", []
    if column.bounds is not None:
        yield "is within bounds", f"{name} NOT BETWEEN ? AND ?", [*map(_value, column.bounds)]
    if column.values is not None:
        yield "is declared", f"NOT list_contains(?, {name})", [[*map(_value, column.values)]]
    if column.references is not None:
        to = column.references
        missing = f'{name} NOT IN (SELECT "{to.column}" FROM "{to.table}")'
        yield f"is in {to.table}", missing, []


def _value(value: object) -> object:
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return value


def _entity(unit: EntityUnit, schema: Schema) -> tuple[str, str]:
    kind = schema.units[unit.kind]
    return kind.table, kind.key


def _reference(table: str, to: str, pairs: tuple[tuple[str, str], ...]) -> Fault:
    names = ", ".join(name for name, _ in pairs)
    met = f'SELECT 1 FROM "{to}" AS p WHERE {_equal(pairs, "t", "p")}'
    missing = f'SELECT 1 FROM "{table}" AS t WHERE NOT EXISTS ({met})'
    return f"{table}({names}) is in {to}", missing, []


def _equal(pairs: tuple[tuple[str, str], ...], one: str, other: str) -> str:
    return " AND ".join(f'{one}."{name}" = {other}."{key}"' for name, key in pairs)
