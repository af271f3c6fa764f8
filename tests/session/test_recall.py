"""A statement that this session answered before is known by its text, and answered as stored."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.bind.statement import bind
from dpsql.bounding.options import ReleaseOptions
from dpsql.errors import LedgerFault, SourceFault
from dpsql.ledger.storage.sqlite import Database
from dpsql.session.answer.answer_cache import MAX_ANSWERS, AnswerCache
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.ledger_access import ledger_location
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SCHEMA = """\
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      dept: {type: varchar, values: [a, b]}
      pay: {type: integer, bounds: [0, 1000]}
budget: {epsilon: 64, accounting: pure}
analysts: {bob: {epsilon: 1}}
"""
SQL = "SELECT dept, count(*) n, avg(pay) FROM people GROUP BY dept"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' dept, i pay FROM range(100) r(i)")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path / "schema.yaml"


@pytest.fixture
def steps() -> list[str]:
    return []


@pytest.fixture
def open_session(path: Path, steps: list[str]) -> Iterator[Callable[[str], Session]]:
    opened: list[Session] = []

    def opening(analyst: str) -> Session:
        source = SeededRandomness(analyst)
        found = Session(
            path, analyst=analyst, epsilon="0.5", randomness=source, progress=steps.append
        )
        opened.append(found)
        return found

    yield opening
    for each in opened:
        each.close()


@pytest.fixture
def session(open_session: Callable[[str], Session]) -> Session:
    return open_session("alice")


def test_the_same_text_is_answered_without_a_step_of_work(
    session: Session, steps: list[str]
) -> None:
    first = session.query(SQL)
    steps.clear()
    again = session.query(SQL)
    assert steps == []
    assert again.table.equals(first.table)
    assert (again.names, again.types) == (first.names, first.types)
    assert first.privacy.receipt is not None
    assert (again.privacy.stored, again.privacy.loss, again.privacy.receipt) == (True, None, None)
    assert again.privacy.epsilon == 0
    assert again.privacy.columns == first.privacy.columns
    assert session.balance().spent.amount == Fraction(1, 2)


def test_few_transactions_find_charge_and_keep_a_new_answer(session: Session) -> None:
    session.query(SQL)
    statements: list[str] = []
    database = session._context.ledger.open()._chain.database
    assert isinstance(database, Database)
    database._db.set_trace_callback(statements.append)
    session.query(f"{SQL} HAVING count(*) > 5", QueryOptions(Fraction(1, 4)))
    database._db.set_trace_callback(None)
    begun = [each for each in statements if each.startswith("BEGIN")]
    # What is stored, and whether anything is saved; the charge, its line, and the answer.
    assert begun == ["BEGIN DEFERRED"] + ["BEGIN IMMEDIATE"] * 3


def test_another_text_parameter_epsilon_or_setting_is_another_statement(session: Session) -> None:
    session.query(SQL)
    session.query(f"{SQL} ORDER BY n")  # the same release
    assert session.balance().spent.amount == Fraction(1, 2)
    assert not session.query(SQL, QueryOptions(Fraction(1, 4))).privacy.stored
    eighth = QueryOptions(Fraction(1, 8))
    assert not session.query(f"{SQL} HAVING avg(pay) > 1", eighth).privacy.stored
    clipped = QueryOptions(release=ReleaseOptions(nonnegative=True))
    assert not session.query(SQL, clipped).privacy.stored


def test_what_another_analyst_paid_for_is_charged_to_the_reader(
    session: Session, open_session: Callable[[str], Session]
) -> None:
    session.query(SQL)
    bob = open_session("bob")
    assert bob.query(SQL).table.equals(session.query(SQL).table)
    assert bob.balance("bob").spent.amount == Fraction(1, 2)
    # Once seen, a second look is free: recalled here, too.
    assert bob.query(SQL).privacy.stored
    assert bob.balance("bob").spent.amount == Fraction(1, 2)


def test_new_data_are_no_reason_to_give_the_old_answer(session: Session, path: Path) -> None:
    session.query(SQL)
    newer = path.with_name("newer.duckdb")
    with attached(newer) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'b' dept, 7 pay")
    newer.replace(path.with_name("people.duckdb"))
    with pytest.raises(SourceFault):
        session.query(SQL)


def test_a_stored_answer_that_is_damaged_is_not_recalled(session: Session) -> None:
    session.query(SQL)
    with closing(sqlite3.connect(str(ledger_location(session.schema)))) as ledger, ledger:
        ledger.execute("UPDATE answer SET bytes = zeroblob(length(bytes))")
    with pytest.raises(LedgerFault):
        session.query(SQL)


def test_an_answer_made_of_other_bytes_than_are_stored_is_forgotten(session: Session) -> None:
    """Two sessions may draw the same release at once: one of both draws is kept, for everybody."""
    prepared, answer = session.compile(SQL), session.query(SQL)
    recall = AnswerCache()
    recall.add(prepared, answer, {"key": b"mine"})
    assert recall.answer(prepared, lambda _: [b"mine"]) is not None
    assert recall.answer(prepared, lambda _: [b"theirs"]) is None
    assert recall.answer(prepared, lambda _: [b"mine"]) is None


def test_so_many_answers_are_remembered_and_no_more(session: Session) -> None:
    answer = session.query(SQL)
    recall = AnswerCache()
    known = [session.compile(f"{SQL} LIMIT {n}") for n in range(MAX_ANSWERS + 1)]
    for each in known:
        recall.add(each, answer, {})
    assert recall.answer(known[0], lambda _: []) is None
    assert recall.answer(known[1], lambda _: []) is not None


def test_what_reads_the_clock_is_prepared_anew_each_minute(session: Session) -> None:
    moments = [dt.datetime(2026, 5, 1, 10, 0, second) for second in (1, 2)]  # noqa: DTZ001 - UTC
    moments += [dt.datetime(2026, 5, 1, 10, 1), dt.datetime(2026, 5, 2)]  # noqa: DTZ001 - UTC
    for sql, times in ((SQL, 1), (f"{SQL} HAVING current_date > DATE '2020-01-01'", 3)):
        made: list[CompiledStatement] = []

        def prepare(sql: str = sql, made: list[CompiledStatement] = made) -> CompiledStatement:
            made.append(session.compile(f"{sql} LIMIT {len(made)}"))
            return made[-1]

        plans = PlanCache(partial(next, iter(moments)))
        for _ in moments:
            plans.get("asked", prepare)
        assert len(made) == times


@pytest.mark.parametrize(
    "moment", ["now()", "current_date", "today()", "current_timestamp", "get_current_timestamp()"]
)
def test_whoever_asks_for_the_moment_is_known_to(session: Session, moment: str) -> None:
    sql = f"SELECT count(*) FROM people HAVING CAST({moment} AS DATE) > DATE '2020-01-01'"
    assert bind(sql, session.schema).reads_clock
    assert not bind(SQL, session.schema).reads_clock
