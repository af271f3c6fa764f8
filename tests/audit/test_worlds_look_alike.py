"""Generated queries on neighbouring databases with a text of its own in every private text cell.

Nothing that is told but noisy values differs: errors, charges, names, types, listed keys and their
order. No text of a private cell is seen, logged, or written to any file but the source.
"""

from __future__ import annotations

import logging
import tempfile
from fractions import Fraction
from itertools import count
from pathlib import Path
from random import Random

import pytest
from data.database import attached
from fuzz.mutation import mutant
from fuzz.query import query
from neighbor_search.public_rows import PUBLIC, create_tables
from neighbor_search.share import values_in_turn
from notes.compiler import FIXTURES

from dpsql.audit.databases.random_databases import neighboring_databases
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.errors import Error
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Public, Schema
from dpsql.schema.sql_type import Varchar
from dpsql.session.session import Session
from dpsql.structs import replace

CANARY = "zq7cell"
QUERIES, MORE = 60, 3000


def sessions(folder: Path, seed: str) -> tuple[Session, Session]:
    """A database and a neighbour of it, each behind a session and a ledger of its own."""
    path = FIXTURES / "clinic" / "schema.yaml"
    schema, random = load_schema(path), Random(seed)
    pair = next(neighboring_databases(schema, PUBLIC["clinic"], random, frozenset()))
    marked = with_canaries(schema, pair.full)
    # The same texts in both: by the row's place, which the neighbour's rows keep their order of.
    fewer = {name: within(pair.full, marked, pair.pair[1], name) for name in marked}
    return opened(folder / "world0", path, marked), opened(folder / "world1", path, fewer)


def within(full: Rows, marked: Rows, fewer: Rows, name: str) -> list[tuple[object, ...]]:
    """The marked rows of those that a neighbour keeps."""
    rest = iter(zip(full[name], marked[name], strict=True))
    return [next(new for old, new in rest if old is row) for row in fewer[name]]


def with_canaries(schema: Schema, rows: Rows) -> Rows:
    numbers = count()
    return {
        name: found
        if isinstance(schema.tables[name].ownership, Public)
        else [
            tuple(
                f"{CANARY}-{next(numbers)}"
                if isinstance(column.type, Varchar) and column.values is None
                else value
                for column, value in zip(schema.tables[name].columns.values(), row, strict=True)
            )
            for row in found
        ]
        for name, found in rows.items()
    }


def opened(folder: Path, path: Path, rows: Rows) -> Session:
    folder.mkdir(parents=True)
    schema = load_schema(path, source=folder / "clinic.duckdb")
    with attached(folder / "clinic.duckdb") as made:
        create_tables(made, schema, rows)
    budget = replace(schema.budget, epsilon=Fraction(10**6))
    ledger, anchor = folder / "ledger.db", folder / "ledger.anchor"
    return Session(
        replace(schema, budget=budget, ledger=ledger, anchor=anchor), epsilon=Fraction(1, 100)
    )


def told(session: Session, sql: str) -> tuple[object, ...]:
    """All that a statement tells but its noisy values, and the texts that it tells."""
    try:
        prepared = session.compile(sql)
        answer = session.query(sql)
    except Error as error:
        return str(error), repr(error), error.sqlstate, error.hint, error.detail, error.at
    table = answer.table
    # By a noisy count it is said which groups are there, of listed keys too where that is all.
    chosen = (r.step.bounded for r in prepared.releases)
    noisy_rows = any(b.partition_count_index is not None or b.min_units is not None for b in chosen)
    noisy_rows |= any(word in sql for word in ("HAVING", "LIMIT", "(SELECT", ") z", "released"))
    keys = [name for name in table.column_names if name.startswith("g")]
    shown = None if noisy_rows else (table.num_rows, table.select(keys).to_pylist())
    return table.schema, shown, session.balance().spent, prepared.loss


@pytest.mark.parametrize("seed", values_in_turn(range(3), 2))
def test_what_is_told_is_the_same_in_neighbouring_worlds(tmp_path: Path, seed: int) -> None:
    _compare(tmp_path, f"ordinary {seed}", QUERIES // 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_what_is_told_is_the_same_in_neighbouring_worlds_at_length(
    tmp_path: Path, seed: int
) -> None:
    _compare(tmp_path, f"long {seed}", MORE // 30)


def _compare(folder: Path, seed: str, queries: int) -> None:
    random = Random(seed)
    one, other = sessions(folder, seed)
    for _ in range(queries):
        sql = query(random) if random.random() < 0.7 else mutant(random)[1]
        assert told(one, sql) == told(other, sql), sql
    one.close()
    other.close()


def test_no_file_holds_a_private_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(scratch)
    random = Random("canaries")
    session, _ = sessions(tmp_path / "worlds", "canaries")
    seen: list[str] = []
    for _ in range(QUERIES // 2):
        sql = query(random)
        try:
            seen.append(str(session.query(sql).table.to_pylist()))
        except Error as error:
            seen.append(f"{error} {error!r} {error.hint} {error.detail}")
    session.close()
    files = [p for p in tmp_path.rglob("*") if p.is_file() and p.suffix != ".duckdb"]
    assert any(path.name == "ledger.db" for path in files)
    kept = [path.read_bytes().decode("latin-1") for path in files]
    assert not any(CANARY in text for text in (*seen, *kept, caplog.text))
    assert not list(scratch.iterdir())
