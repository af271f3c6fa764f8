"""What is refused for its cost costs nothing, of the dataset's budget and of the reader's cap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached

from dpsql.dbapi.connection import Connection
from dpsql.errors import BudgetSpent, OverTarget
from dpsql.session.options import PriceOptions, QueryOptions
from dpsql.session.saved.saved_releases import NotPaid
from dpsql.session.session import Session

SCHEMA = """\
dataset: people
source: people.duckdb
ledger: ledger.db
tables:
  people:
    unit: row
    columns:
      dept: {{type: varchar, values: [a, b]}}
      pay: {{type: integer, bounds: [0, 1000]}}
budget: {budget}
per_query: {{max_epsilon: 3}}
analysts: {{bob: {{epsilon: 2}}}}
"""
BY_DEPT = "SELECT dept, count(*) AS n FROM people GROUP BY dept"
BY_KEPT = "SELECT k.n, count(*) FROM people p JOIN kept k ON p.dept = k.dept GROUP BY 1"

APPROX = "{epsilon: 3, delta: 1.0e-6, accounting: approx}"
ZCDP = "{epsilon: 3, delta: 1.0e-6, accounting: zcdp}"

Opening = Callable[..., Session]


@pytest.fixture
def opening(tmp_path: Path) -> Iterator[Opening]:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' dept, i pay FROM range(100) r(i)")
    opened: list[Session] = []

    def session(analyst: str, budget: str = ZCDP) -> Session:
        (tmp_path / "schema.yaml").write_text(SCHEMA.format(budget=budget), encoding="utf-8")
        opened.append(Session(tmp_path / "schema.yaml", analyst=analyst, epsilon="0.5"))
        return opened[-1]

    yield session
    for each in opened:
        each.close()


def at_most(cost: str) -> QueryOptions:
    return QueryOptions(price=PriceOptions(max_cost=Fraction(cost)))


def spent(session: Session) -> Fraction:
    return session.balance(session.analyst).spent.amount


def test_stored_parts_are_not_paid_for_by_what_is_refused(opening: Opening) -> None:
    opening("alice", APPROX).query("SELECT count(*) FROM people", QueryOptions(Fraction(1, 4)))
    bob = opening("bob", APPROX)
    cheap = at_most("0.1")
    # The first half is stored, as it is asked for at half of ε; the other is too dear.
    both = "SELECT (SELECT count(*) FROM people), (SELECT sum(pay) FROM people)"
    for refused in (lambda: bob.query(both, cheap), lambda: bob.batch([both], cheap)):
        with pytest.raises(OverTarget, match="max_cost"):
            refused()
        assert spent(bob) == 0
    bob.query(both, at_most("0.25"))
    assert spent(bob) == Fraction(1, 2)


def test_kept_rows_are_not_opened_for_what_may_be_refused(opening: Opening) -> None:
    with Connection(opening("alice")) as alice:
        alice.execute(f"CREATE RELEASE kept AS {BY_DEPT}")
        bob = opening("bob")
        with pytest.raises(NotPaid, match="haven't opened it"):
            bob.query(BY_KEPT, at_most("0.1"))
        assert spent(bob) == 0
        bob.query(BY_KEPT, at_most("0.5"))
        assert spent(bob) > 0


def test_opened_rows_are_read_for_what_is_refused(opening: Opening) -> None:
    with Connection(opening("alice")) as alice:
        alice.execute(f"CREATE RELEASE kept AS {BY_DEPT}")
        bob = opening("bob")
        bob.query("SELECT * FROM kept")
        before = spent(bob)
        with pytest.raises(OverTarget, match="max_cost"):
            bob.query(BY_KEPT, at_most("0.1"))
        assert spent(bob) == before


@pytest.mark.parametrize(
    "asked", ["median(pay)", "count(*)", "mode(dept)", "median(pay), sum(pay)"]
)
def test_all_of_the_budget_may_be_asked_for_at_once(opening: Opening, asked: str) -> None:
    alice = opening("alice")
    alice.query(f"SELECT {asked} FROM people", QueryOptions(Fraction(3)))
    with pytest.raises(BudgetSpent):
        alice.query(f"SELECT {asked} FROM people WHERE pay > 1", QueryOptions(Fraction(1, 2)))
