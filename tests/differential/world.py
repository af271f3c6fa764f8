"""A clean database of each fixture, and the schema under limits that don't bind on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
from differential.clean import clean_rows
from neighbor_search.public_rows import create_tables
from notes.compiler import schema_of
from notes.whole import whole_over

from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.schema.model import Limits, Public, Schema
from dpsql.session.run.public_statements import WholeStatements
from dpsql.structs import replace

ROOMY = Limits(groups=100, rows_per_group=100, rows=100)
"""No generated unit has more rows."""

BENCHMARK_ROOMY = Limits(groups=500, rows_per_group=500, rows=500)
"""No unit of a benchmark has more rows of a table where tests run it."""


@dataclass(frozen=True)
class World:
    """A database that honours its schema, keys included."""

    schema: Schema
    connection: duckdb.DuckDBPyConnection
    facts: WorldFacts
    whole: WholeStatements

    @classmethod
    def of(cls, schema: Schema, connection: duckdb.DuckDBPyConnection) -> World:
        private = (t.name for t in schema.tables.values() if not isinstance(t.ownership, Public))
        facts = WorldFacts(schema, connection, frozenset(private))
        return cls(schema, connection, facts, whole_over(schema, connection))


@cache
def generated(name: str) -> World:
    """A generated database; BI tools call its namespace public."""
    schema = _roomy(schema_of(name), ROOMY)
    connection = duckdb.connect(config={"threads": 1})
    create_tables(connection, schema, clean_rows(schema), "public")
    connection.execute("SET schema = 'public'")
    return World.of(schema, connection)


@cache
def of_files(name: str, folder: Path, limits: Limits = BENCHMARK_ROOMY) -> World:
    """The tables of a benchmark, generated as Parquet files."""
    schema = _roomy(schema_of(name), limits)
    connection = duckdb.connect(config={"threads": 1})
    for table in schema.tables:
        connection.execute(f"CREATE TABLE \"{table}\" AS FROM '{folder / table}.parquet'")
    return World.of(schema, connection)


def _roomy(schema: Schema, limits: Limits) -> Schema:
    tables = {name: replace(table, limits=limits) for name, table in schema.tables.items()}
    return replace(schema, tables=tables)
