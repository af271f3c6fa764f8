"""Public rows that answers are finished with are read once, as long as their files are the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.engine import Engine
from dpsql.engine.fingerprint import Identity
from dpsql.engine.raw import Raw
from dpsql.errors import SourceFault
from dpsql.schema.load.load import load_schema
from dpsql.session.run.execution import Execution
from dpsql.session.run.finishing.finishing_copies import FinishingCopies
from dpsql.session.session import Session

SCHEMA = """\
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      dept: {type: varchar, values: [a, b]}
  depts:
    public: true
    columns: {dept: {type: varchar}, name: {type: varchar}}
budget: {epsilon: 64, accounting: pure}
store: private
"""
SQL = """SELECT name, n FROM depts JOIN (SELECT dept, count(*) AS n FROM people GROUP BY dept) c
USING (dept) ORDER BY name"""

OLD: Identity = (("database", 1, 1, 1, 1, 1),)
NEW: Identity = (("database", 1, 1, 1, 1, 2),)


@pytest.fixture
def execution(tmp_path: Path) -> Iterator[Execution]:
    write(tmp_path, "one")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    opened = Execution(load_schema(tmp_path / "schema.yaml"), lambda _: None)
    yield opened
    opened.close()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Statements that read the public table."""
    run: list[str] = []
    execute = DuckDBEngine.execute

    def noting(self: Engine, sql: str, *rest: object, **more: object) -> Raw:
        if 'FROM "depts"' in sql and "release" not in sql:
            run.append(sql)
        return execute(self, sql, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(DuckDBEngine, "execute", noting)
    return run


def write(folder: Path, name: str) -> None:
    """Another version of the source's file, whose department has this `name`."""
    with attached(folder / "new.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' dept FROM range(100)")
        connection.execute(f"CREATE TABLE depts AS SELECT 'a' AS dept, '{name}' AS name")
    os.replace(folder / "new.duckdb", folder / "people.duckdb")  # noqa: PTH105 - as an owner would


def asked(execution: Execution, analyst: str) -> list[str]:
    """The names that are answered to `analyst`."""
    session = Session(execution._schema, analyst=analyst, execution=execution)
    names: list[str] = session.query(SQL).table.column(0).to_pylist()
    session._context.ledger.close()
    return names


def test_a_public_table_is_read_for_the_first_statement_alone(
    execution: Execution, reads: list[str]
) -> None:
    assert [asked(execution, name) for name in ("alice", "bob", "carol")] == [["one"]] * 3
    assert len(reads) == 1


def test_rows_of_other_files_are_given_to_nobody(execution: Execution, tmp_path: Path) -> None:
    assert asked(execution, "alice") == ["one"]
    write(tmp_path, "two")
    with pytest.raises(SourceFault, match="has changed"):
        asked(execution, "bob")
    other = Execution(execution._schema, lambda _: None)
    other.copies = execution.copies
    assert asked(other, "bob") == ["two"]
    assert asked(other, "carol") == ["two"]
    other.close()


def always(files: Identity) -> Callable[[], Identity]:
    return lambda: files


def rows(number: int) -> Callable[[], pa.Table]:
    return lambda: pa.table({"n": [number]})


def test_copies_are_of_the_files_that_there_are() -> None:
    copies = FinishingCopies()
    for files, number in ((OLD, 1), (OLD, 1), (NEW, 3), (OLD, 4)):
        assert copies.rows("SELECT", always(files), rows(number)).equals(rows(number)())
    assert copies.rows("SELECT", lambda: OLD, rows(5)).equals(rows(4)())


def test_rows_that_were_read_while_files_changed_are_not_kept() -> None:
    copies, files = FinishingCopies(), [OLD]

    def read() -> pa.Table:
        files.append(NEW)
        return rows(1)()

    copies.rows("SELECT", lambda: files[-1], read)
    assert copies.rows("SELECT", always(OLD), rows(2)).equals(rows(2)())


def test_rows_of_a_server_are_read_each_time() -> None:
    copies = FinishingCopies()
    copies.rows("SELECT", lambda: (), rows(1))
    assert copies.rows("SELECT", lambda: (), rows(2)).equals(rows(2)())


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    copies = FinishingCopies(size=3 * 8)
    for sql in ("a", "b", "c", "a", "d"):
        copies.rows(sql, lambda: OLD, rows(1))
    held = [sql for sql in "cadb" if copies.rows(sql, lambda: OLD, rows(2)).equals(rows(1)())]
    assert held == ["c", "a", "d"]


def test_what_is_larger_than_all_copies_may_be_is_not_kept() -> None:
    copies = FinishingCopies(size=8)
    copies.rows("a", lambda: OLD, rows(1))
    copies.rows("b", lambda: OLD, lambda: pa.table({"n": [1, 2]}))
    assert copies.rows("a", lambda: OLD, rows(2)).equals(rows(1)())
