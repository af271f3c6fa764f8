"""Databases whose values are as far out as their types allow: where expressions raise."""

from __future__ import annotations

from functools import cache
from random import Random

import duckdb
from functions.samples import extreme
from neighbor_search.public_rows import PUBLIC, create_tables
from notes.compiler import schema_of

from dpsql.engine.duckdb.lockdown import configure as fix_meaning
from dpsql.schema.model import Column, Table
from dpsql.schema.sql_type import Integer

_ROWS = 30


@cache
def far(schema: str) -> duckdb.DuckDBPyConnection:
    """The fixture's tables; keys are mostly a few numbers, so that rows meet in joins."""
    connection = duckdb.connect(config={"threads": 1})
    fix_meaning(connection)
    found, random = schema_of(schema), Random(schema)
    create_tables(connection, found, PUBLIC[schema])
    for table in found.tables.values():
        if table.name not in PUBLIC[schema]:
            marks = ", ".join("?" for _ in table.columns)
            for _ in range(_ROWS):
                row = [_value(random, table, column) for column in table.columns.values()]
                connection.execute(f'INSERT INTO "{table.name}" VALUES ({marks})', row)
    return connection


def _value(random: Random, table: Table, column: Column) -> str | None:
    is_key = column.references is not None or column.name in (table.key or ())
    is_name = isinstance(column.type, Integer) and (is_key or column.name.endswith("_id"))
    if is_name and random.random() < 0.95:
        return str(random.randint(1, 6))
    if column.values and random.random() < 0.8:
        return str(random.choice(column.values))
    return random.choice([None, *extreme(column.type)])
