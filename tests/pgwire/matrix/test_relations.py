"""No relation of the catalogue is empty here if it has rows in PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from pgwire.matrix.two_servers import Servers

from dpsql.pgwire.catalog.relations import relations
from dpsql.pgwire.catalog.rows.system_rows import system_tables

OTHER = {
    "pg_stat_progress_copy": "what other tests copy on the same server of PostgreSQL",
    "pg_db_role_setting": "settings that the test makes, of the role in PostgreSQL",
}
"""Relations that have no rows here, and why."""


def rows_of(connection: Any, relation: str) -> int | None:
    """How many rows the relation has, None if that is refused."""
    psycopg = pytest.importorskip("psycopg")
    try:
        ((count,),) = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
    except (psycopg.NotSupportedError, psycopg.errors.InsufficientPrivilege):
        return None
    assert isinstance(count, int)
    return count


def test_no_relation_is_empty_that_has_rows_in_postgresql(servers: Servers) -> None:
    """Nor has it the rows of every database alone if PostgreSQL has rows of the dataset's tables.

    PostgreSQL is asked where dpsql has no more than the rows of every database.
    """
    psycopg = pytest.importorskip("psycopg")
    recorded = {stored: table.num_rows for stored, table in system_tables("shop").items()}
    wrong = {}
    with (
        psycopg.connect(servers.dsn(servers.ours), autocommit=True) as ours,
        psycopg.connect(servers.dsn(servers.theirs), autocommit=True) as theirs,
        psycopg.connect(f"{servers.dsn(servers.theirs)} dbname=template1", autocommit=True) as bare,
    ):
        for (space, name), relation in relations().items():
            full = f"{space}.{name}"
            rows, system = rows_of(ours, full), recorded.get(relation.stored, 0)
            if rows is None or rows > system or name in OTHER:
                continue
            wanted = rows_of(theirs, full)
            if wanted and (not rows or wanted != rows_of(bare, full)):
                wrong[full] = (rows, wanted)
    assert not wrong
