"""A session answers every accepted query: charged, run, noised and finished, whatever its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from data.database import attached
from differential.clean import clean_rows
from differential.statement import FIXTURES, Statement, noted, written
from neighbor_search.public_rows import create_tables
from neighbor_search.share import in_turn
from notes.compiler import schema_of
from privacy.seeded import SeededRandomness

from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session
from dpsql.structs import replace

STATEMENTS = [s for s in (*noted(), *written()) if s.schema in ("clinic", "bi")]
SHARE = 6
"""Every run asks one statement in so many."""


@pytest.fixture(scope="session")
def session_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Session]]:
    """One session for each schema: what is charged for a query is far below its budget."""
    little = Fraction(1, 10**9)
    opened: list[Session] = []

    @cache
    def session(name: str) -> Session:
        folder = tmp_path_factory.mktemp(name)
        _write(name, folder)
        schema = load_schema(folder / "schema.yaml")
        schema = replace(schema, per_query=replace(schema.per_query, delta=little))
        found = Session(schema, epsilon="0.01", randomness=SeededRandomness("corpus"))
        opened.append(found)
        return found

    yield session
    for each in opened:
        each.close()


def _write(name: str, folder: Path) -> None:
    schema = schema_of(name)
    text = (FIXTURES / name / "schema.yaml").read_text(encoding="utf-8")
    ledger = folder / "ledger.sqlite"
    (folder / "schema.yaml").write_text(f"{text}\nledger: {ledger}\n", encoding="utf-8")
    with attached(folder / f"{name}.duckdb") as connection:
        create_tables(connection, schema, clean_rows(schema))


@pytest.mark.parametrize("statement", in_turn(((s.name, (s,)) for s in STATEMENTS), SHARE))
def test_a_session_answers(statement: Statement, session_of: Callable[[str], Session]) -> None:
    answer = session_of(statement.schema).query(statement.sql)
    assert len(answer.names) == answer.table.num_columns
    assert answer.table.schema.names == answer.table.column_names
