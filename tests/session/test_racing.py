"""Two processes ask the same at once: what is kept is what both are given, and their caps hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from data.database import attached
from ledger.ledger_world import PROCESSES, Place, place_in
from narrowed import number
from waiting import HANGS_AFTER

from dpsql.session.interruptible import RUNNING
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.session.session import Session

SCHEMA = """\
dataset: people{number}
source: people.duckdb
ledger: {ledger}
tables:
  people:
    unit: row
    columns:
      dept: {{type: varchar, values: [a, b]}}
      pay: {{type: integer, bounds: [0, 1000]}}
budget: {{epsilon: 64, accounting: pure}}
analysts: {{alice: {{epsilon: 3}}, bob: {{epsilon: 3}}}}
"""

ASKED = (
    "SELECT dept, count(*) AS n FROM people GROUP BY dept",
    "SELECT sum(pay) AS s FROM people",
    # The second release is drawn on the noisy answer of the first.
    (
        "SELECT count(*) AS n, (SELECT sum(pay) FROM people WHERE pay < 9) AS a FROM people "
        "WHERE pay > (SELECT sum(pay) FROM people WHERE pay < 9)"
    ),
)
EACH = Fraction(1, 2)

pytestmark = pytest.mark.bounds

Rows = list[tuple[object, ...]]
Told = tuple[str, list[Rows]]


def ask(path: Path, analyst: str, state: str, together: Barrier | None, told: Queue[Told]) -> None:
    """All of `ASKED`; each waits before its charge until the other process has come as far."""
    os.environ["DPSQL_STATE"] = state

    def progress(step: str) -> None:
        if step == RUNNING and together is not None:
            together.wait(HANGS_AFTER)

    session = Session(path, analyst=analyst, epsilon=EACH, progress=progress)
    found = [_rows(session, sql) for sql in ASKED]
    session.close()
    told.put((analyst, found))


def _rows(session: Session, sql: str, options: QueryOptions = DEFAULT_OPTIONS) -> Rows:
    table = session.query(sql, options).table
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "file":
        yield place_in(tmp_path)
        return
    url = os.environ.get("DPSQL_POSTGRES")
    if not url:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    found = Place(tmp_path / "none", tmp_path / "none.anchor", url, f"people{os.getpid()}")
    yield found
    found.drop()


@pytest.mark.parametrize("analysts", [("alice", "bob"), ("alice", "alice")], ids=["two", "one"])
def test_who_comes_second_is_given_what_was_kept(
    analysts: tuple[str, str], place: Place, tmp_path: Path, state_folder: Path
) -> None:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' dept, i pay FROM range(100) r(i)")
    path = tmp_path / "schema.yaml"
    ledger, number = place.url or "ledger.db", os.getpid() if place.url else ""
    path.write_text(SCHEMA.format(ledger=ledger, number=number), encoding="utf-8")
    together, told = PROCESSES.Barrier(2), PROCESSES.Queue()
    running = [
        PROCESSES.Process(target=ask, args=(path, analyst, str(state_folder), together, told))
        for analyst in analysts
    ]
    for process in running:
        process.start()
    (_, first), (_, second) = told.get(timeout=HANGS_AFTER), told.get(timeout=HANGS_AFTER)
    for process in running:
        process.join(HANGS_AFTER)
        assert process.exitcode == 0
    session = Session(path, analyst=analysts[0], epsilon=EACH)
    stored = [_rows(session, sql) for sql in ASKED]
    spent = {name: session.balance(name).spent.amount for name in {*analysts}}
    dataset = session.balance().spent.amount
    session.close()
    # Noise of ε = 0.5 hides in one of many values: two draws are equal once in thousands of times,
    # and then nothing fails.
    assert [first, second] == [stored, stored], "other integers than those that are kept"
    # Each has paid for the one draw of each that they saw; the dataset has paid for both.
    assert sum(spent.values()) == dataset
    assert len(set(spent.values())) == 1


def test_what_reads_another_answer_is_drawn_on_the_one_that_is_kept(tmp_path: Path) -> None:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' dept, i pay FROM range(1000) r(i)")
    path = tmp_path / "schema.yaml"
    text = SCHEMA.format(ledger="ledger.db", number="").split("analysts")[0]
    path.write_text(f"{text}per_query: {{max_epsilon: 32}}\n", encoding="utf-8")
    # Conditions under NOT narrow no bounds, so that there is much noise.
    least = "SELECT sum(pay) FROM people WHERE NOT (pay >= 30)"
    seen: list[Rows] = []

    def progress(step: str) -> None:
        if step == RUNNING and not seen:
            seen.append(_rows(alice, least))

    alice = Session(path, analyst="alice", epsilon=16)
    bob = Session(path, analyst="bob", epsilon=32, progress=progress)
    ((found,),) = _rows(bob, f"SELECT count(*) FROM people WHERE pay > ({least})")
    assert _rows(bob, least, QueryOptions(Fraction(16))) == seen[0]
    alice.close()
    bob.close()
    # Two draws of the sum are a hundred apart, mostly. Noise of ε = 16 moves a count by 3 with a
    # probability of e^-48.
    ((sum_of_few,),) = seen[0]
    assert isinstance(found, int)
    assert abs(found - sum(pay > number(sum_of_few) for pay in range(1000))) < 3, (
        "other integers than of the answer that is kept"
    )
