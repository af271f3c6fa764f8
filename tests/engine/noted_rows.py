"""A few hundred rows of each of the notes' fixtures: boundary values, and extremes of types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
from neighbor_search import storages
from neighbor_search.public_rows import PUBLIC
from notes.blocks import Claim, accepted
from notes.compiler import prepared, schema_of
from notes.exact import exact_table, raw_groups

from dpsql.engine.source import ServerTable
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.model import Schema

SALT = "1"
_ROWS, _UNITS = 300, 60
_FIT = {
    "VARCHAR": "replace({0}, chr(0), '')",
    "DATE": "CASE WHEN NOT isfinite({0})"
    " OR {0} BETWEEN '4713-01-01 (BC)' AND '5874897-12-31' THEN {0} END",
    "TIMESTAMP": "CASE WHEN NOT isfinite({0}) OR {0} BETWEEN '4713-01-01 (BC) 00:00:00'"
    " AND '294246-12-31 23:59:59.999999' THEN {0} END",
}
"""What a server can hold of a value v, by its type."""


def noted() -> list[Claim]:
    """Each query that a note accepts, once for each set of verified keys."""
    return list({(c.sql, c.schema, c.verified): c for c in accepted()}.values())


@cache
def rows_of(name: str) -> duckdb.DuckDBPyConnection:
    """The tables of the fixture `name`, with values that a server can hold, too."""
    schema = schema_of(name)
    storage = storages.Storage(threads=1, order="number")
    bag = storages.Bag(trusted=True, rows=_ROWS, units=_UNITS)
    connection = storages._connection(schema, PUBLIC[name], storage, bag, Path("/nowhere"))
    for table in schema.tables.values():
        items = ", ".join(
            f"{_FIT.get(str(column.type), '{0}').format(f'{chr(34)}{column.name}{chr(34)}')}"
            f' AS "{column.name}"'
            for column in table.columns.values()
        )
        connection.execute(
            f'CREATE OR REPLACE TABLE "{table.name}" AS SELECT {items} FROM "{table.name}"'
        )
    return connection


def server_tables(schema: Schema) -> tuple[ServerTable, ...]:
    """All that is declared of columns; keys are broken at times."""
    return tuple(
        ServerTable(
            name,
            tuple((c.name, str(c.type)) for c in table.columns.values()),
            tuple((c.name, c.stored_as) for c in table.columns.values() if c.stored_as != c.name),
        )
        for name, table in schema.tables.items()
    )


def statements(
    claim: Claim,
) -> Iterator[tuple[str, list[str], dict[str, pa.Table], list[str]]]:
    """Each statement of a claim's releases, its parameters, tables, and the lines that it has."""
    connection, released = rows_of(claim.schema), dict[str, pa.Table]()
    for release in prepared(claim.sql, claim.schema, claim.verified).releases:
        query = release.step.query
        tables = {d.name: domain_table(d) for d in query.domains}
        tables |= {other: released[other] for other in release.step.reads}
        for other, table in tables.items():
            connection.register(other, table)
        raw = raw_groups(connection, release, SALT)
        if release.step.bounded.contributions.statistics:
            yield query.sql, [SALT] * query.salted, tables, lines(raw.totals)
        for histogram, counted in zip(query.histograms, raw.histograms, strict=True):
            yield histogram.sql, [SALT] * histogram.salted, tables, lines(counted)
        released[release.name] = exact_table(connection, release, released)


def lines(table: pa.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())
