"""A session whose ledger's server has ended the connection opens the ledger anew by itself."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from data.database import attached

from dpsql.errors import InterfaceError, LedgerFault
from dpsql.session.analyst_ledger import AnalystLedger
from dpsql.session.dataset import load_dataset
from dpsql.session.ledger_access import open_ledger
from dpsql.session.session import Session
from dpsql.session.shared_ledger import SharedLedger

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


def people(database: str, folder: Path) -> Path:
    with attached(folder / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT i::BIGINT AS pay FROM range(100) r(i)")
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(url=database))
    return path


def test_what_a_lost_ledger_has_charged_is_answered_again(database: str, tmp_path: Path) -> None:
    session = Session(people(database, tmp_path))
    first = session.query(COUNT).table
    end_connections(database)
    with pytest.raises(LedgerFault, match="can't be reached"):
        session.query(f"{COUNT} WHERE pay > 3")
    assert session.query(COUNT).table == first
    assert session.query(f"{COUNT} WHERE pay > 3").table.num_rows == 1
    assert session.balance().spent.amount == 1
    session.close()


def test_a_session_ends_whose_ledger_is_lost(database: str, tmp_path: Path) -> None:
    """What it was told stands: no error says otherwise as it ends."""
    session = Session(people(database, tmp_path))
    session.query(COUNT)
    end_connections(database)
    session.close()


def test_a_lost_ledger_that_was_shared_is_let_go_of_by_all(database: str, tmp_path: Path) -> None:
    schema = load_dataset(people(database, tmp_path))
    shared = SharedLedger(open_ledger(schema))
    own = AnalystLedger(schema, "alice", shared)
    lost = own.open()
    end_connections(database)
    with pytest.raises(LedgerFault, match="can't be reached"):
        lost.balance()
    shared.give()
    with pytest.raises(LedgerFault, match="can't be reached"):
        lost.balance()
    assert own.open().balance().spent.amount == 0
    with pytest.raises(InterfaceError, match="is closed"):
        lost.balance()
    own.close()
