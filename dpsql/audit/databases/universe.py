"""Units that the owner lists: the values of one column, each as often as it is listed.

A universe of known values is what global sensitivities are tabulated over in teaching: all
databases of n rows that can be drawn from it without replacement, and all their neighbours.
"""

from __future__ import annotations

from collections import Counter

import duckdb
from msgspec import Struct

from dpsql.audit.databases.candidate_units import PlanConstants, piece
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.errors import BadParameter
from dpsql.schema.model import Column, Schema, Table


class Universe(Struct, frozen=True):
    """The values, as text, of one column of a table whose rows are units."""

    column: str
    values: tuple[str, ...]


def parse_universe(text: str) -> Universe:
    """`COLUMN=VALUE,VALUE,…`."""
    column, equals, values = text.partition("=")
    if not equals or not column.strip() or not values.strip():
        raise BadParameter(
            "a universe is a column and its values", hint="write --universe x=1,2,2,5"
        )
    return Universe(column.strip(), tuple(value.strip() for value in values.split(",")))


def listed_units(schema: Schema, constants: PlanConstants, universe: Universe) -> list[list[Rows]]:
    """Each different row of `universe`, in copies as many as it is listed."""
    table = next((t for t in schema.tables if constants.kind == f"row of {t}"), None)
    if table is None:
        raise BadParameter(
            f"a universe lists rows, but the statement's unit is the {constants.kind}",
            hint="audit a schema that has unit: row",
        )
    column = _column(schema.tables[table], constants, universe.column)
    number = list(schema.tables[table].columns).index(column.name)
    with duckdb.connect() as connection:
        counted = Counter(_value(connection, column, text) for text in universe.values)
    return [
        [_unit(schema, table, number, value)] * copies for value, copies in sorted(counted.items())
    ]


def _column(table: Table, constants: PlanConstants, name: str) -> Column:
    if name not in table.columns:
        raise BadParameter(
            f"table {table.name} has no column {name}",
            hint=f"name one of {', '.join(table.columns)}",
        )
    others = constants.columns.get(table.name, frozenset()) - {name}
    if others:
        raise BadParameter(
            f"the statement reads {', '.join(sorted(others))}, too, and the universe lists {name}",
            hint=f"ask of {name} alone, or leave the universe out",
        )
    return table.columns[name]


def _value(connection: duckdb.DuckDBPyConnection, column: Column, text: str) -> str:
    """`text` as the column's type spells it, so that 1 and 1.0 are one value of a double."""
    sql = f"SELECT TRY_CAST(TRY_CAST(? AS {column.type}) AS VARCHAR)"
    ((value,),) = connection.execute(sql, [text]).fetchall()
    if value is None:
        raise BadParameter(
            f"{text!r} is no {column.type}", hint=f"list values of {column.name}, with commas"
        )
    return str(value)


def _unit(schema: Schema, table: str, number: int, value: str) -> Rows:
    row = tuple(
        value if index == number else None for index in range(len(schema.tables[table].columns))
    )
    return piece(schema, {table: [row]})
