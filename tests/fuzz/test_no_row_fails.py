"""No row makes a statement fail, whatever it holds: that it failed would tell of the row.

Seeds are fixed: nothing fails by chance.
"""

from __future__ import annotations

import os
from random import Random

import duckdb
import pytest
from fuzz.far import far
from fuzz.mutation import mutant
from fuzz.outcome import exact_releases, prepared
from fuzz.query import query
from fuzz.shared import sharing
from notes.exact import raw_groups

from dpsql.release.columns.group_keys import domain_table

CHUNK = 30
ORDINARY = int(os.environ.get("DPSQL_FAR_STATEMENTS", "150"))
LONG = int(os.environ.get("DPSQL_FAR_STATEMENTS", "20000"))


@pytest.mark.parametrize("chunk", range(-(-ORDINARY // CHUNK)))
def test_no_row_fails_a_statement(chunk: int) -> None:
    assert _try(Random(f"ordinary {chunk}")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(-(-LONG // CHUNK)))
def test_no_row_fails_a_statement_at_length(chunk: int) -> None:
    assert _try(Random(f"long {chunk}")) > 0


def _try(random: Random) -> int:
    """How many releases were run."""
    found = 0
    for _ in range(CHUNK):
        schema, sql = random.choice([_shared, _generated, mutant])(random)
        try:
            found += _releases_run(sql, schema)
        except duckdb.Error as fault:
            raise AssertionError(f"{fault}\n{schema}: {sql!r}") from fault
    return found


def _shared(random: Random) -> tuple[str, str]:
    return "clinic", sharing(random)


def _generated(random: Random) -> tuple[str, str]:
    return "clinic", query(random)


def _releases_run(sql: str, schema: str) -> int:
    ready = prepared(sql, schema)
    if ready is None:
        return 0
    connection = far(schema)
    for name, table in exact_releases(ready, schema).items():
        connection.register(name, table)
    for release in ready.releases:
        for domain in release.step.query.domains:
            connection.register(domain.name, domain_table(domain))
        raw_groups(connection, release, "1")
    return len(ready.releases)
