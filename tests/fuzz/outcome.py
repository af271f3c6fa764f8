"""What becomes of a statement: it is refused by an error of ours, or its SQL runs on no rows."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import cache

import duckdb
import pyarrow as pa
from neighbor_search.public_rows import PUBLIC, create_tables
from notes.compiler import schema_of
from notes.exact import exact_table

from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.errors import Error
from dpsql.session.compile.compiled import CompiledStatement, compile_sql
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.session.compile.loss_conversion import query_loss

# It raises the limit of recursion, once and for all: hypothesis warns if that happens in a test.
with_deep_stack(int)

MOST_SECONDS = 10
"""Of computing: how long it takes on a busy machine tells nothing."""


@cache
def empty(schema: str) -> duckdb.DuckDBPyConnection:
    """A database of the fixture without private rows."""
    connection = duckdb.connect(config={"threads": 1})
    create_tables(connection, schema_of(schema), PUBLIC[schema])
    return connection


def prepared(sql: str, schema: str) -> CompiledStatement | None:
    """`sql` as a session prepares it; None if it is refused, which only an `Error` may say."""
    found = schema_of(schema)
    facts = WorldFacts(found, empty(schema), frozenset())
    started = time.process_time()
    try:
        return with_deep_stack(
            lambda: compile_sql(sql, found, facts, query_loss(found, Fraction(1)), "data")
        )
    except Error:
        return None
    finally:
        assert time.process_time() - started < MOST_SECONDS


def runs(sql: str, schema: str) -> bool:
    """Whether `sql` is accepted; then its releases and what stands above them are run."""
    ready = prepared(sql, schema)
    if ready is None:
        return False
    connection = empty(schema)
    for name, table in exact_releases(ready, schema).items():
        connection.register(name, table)
    # A cross join of a month of minutes with itself has more rows than memory has room for.
    connection.sql(ready.postprocessing_sql).limit(1000).fetchall()
    return True


def exact_releases(ready: CompiledStatement, schema: str) -> dict[str, pa.Table]:
    """What is released of no rows, by its names."""
    found: dict[str, pa.Table] = {}
    for release in ready.releases:
        found[release.name] = exact_table(empty(schema), release, found)
    return found
