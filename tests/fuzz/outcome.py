"""What becomes of a statement: it is refused by an error of ours, or its SQL runs on no rows."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import cache

import duckdb
import pyarrow as pa
from corpus.clean import PUBLIC_ROWS
from grammar.compiler import Facts, schema_of
from grammar.exact import exact_table
from grammar.public_rows import create_tables

from dpsql.errors import Error
from dpsql.session.grant import grant
from dpsql.session.prepared import prepare

MOST_SECONDS = 10


@cache
def empty(schema: str) -> duckdb.DuckDBPyConnection:
    """A database of the fixture without private rows."""
    connection = duckdb.connect(config={"threads": 1})
    create_tables(connection, schema_of(schema), PUBLIC_ROWS[schema])
    return connection


def refused(sql: str, schema: str) -> bool:
    """Tell whether `sql` is refused; any exception but `Error` is a bug, as are ten seconds."""
    started = time.process_time()
    found = schema_of(schema)
    connection = empty(schema)
    try:
        ready = prepare(
            sql, found, Facts(found, connection, frozenset()), grant(found, Fraction(1)), "data"
        )
    except Error:
        _in_time(started)
        return True
    tables: dict[str, pa.Table] = {}
    for release in ready.releases:
        tables[release.name] = exact_table(connection, release, tables)
    for name, table in tables.items():
        connection.register(name, table)
    connection.execute(ready.finish).fetchall()
    _in_time(started)
    return False


def _in_time(started: float) -> None:
    assert time.process_time() - started < MOST_SECONDS
