"""A session whose ledger's server has ended the connection opens the ledger anew by itself."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from data.database import attached

from dpsql.errors import LedgerFault
from dpsql.session.session import Session

COUNT = "SELECT count(*) FROM people"
SCHEMA = """
dataset: lost
source: people.duckdb
ledger: {url}
tables: {{people: {{unit: row, columns: {{pay: {{bounds: [0, 100]}}}}}}}}
budget: {{epsilon: 10}}
per_query: {{epsilon: 0.5}}
"""


@pytest.fixture
def database() -> Iterator[str]:
    """A database of the test's own: what ends its connections ends nobody else's."""
    server = os.environ.get("DPSQL_POSTGRES")
    if not server:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    name = f"lost_{secrets.token_hex(8)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield server.replace("/postgres?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def end_connections(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def test_what_a_lost_ledger_has_charged_is_answered_again(database: str, tmp_path: Path) -> None:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT i::BIGINT AS pay FROM range(100) r(i)")
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.format(url=database))
    session = Session(path)
    first = session.query(COUNT).table
    end_connections(database)
    with pytest.raises(LedgerFault, match="can't be reached"):
        session.query(f"{COUNT} WHERE pay > 3")
    assert session.query(COUNT).table == first
    assert session.query(f"{COUNT} WHERE pay > 3").table.num_rows == 1
    assert session.balance().spent.amount == 1
    session.close()
