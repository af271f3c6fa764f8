"""How much noise each of many equal queries has under this ledger, and the page that tells it."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from documentation.pages import check_table

from dpsql.errors import BudgetSpent
from dpsql.privacy.accounting.zcdp_conversion import epsilon_of_rho
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SQL = "SELECT count(*) FROM people"
CONVERSION = Fraction(1, 2 * 10**6)

SCHEMA = """\
dataset: many
source: data
version: 1
tables:
  people: {unit: row, columns: {id: {type: bigint}}}
budget: {epsilon: 1, BUDGET}
per_query: {epsilon: 1.0e-6, max_epsilon: 1}
"""


def session(folder: Path, budget: str) -> Session:
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.replace("BUDGET", budget))
    return Session(path)


def basic(folder: Path, count: int) -> float:
    """The standard deviation of each of `count` queries that take an equal part of ε = 1."""
    return deviation(session(folder, "accounting: pure"), Fraction(1, count))


def ours(folder: Path, count: int) -> float:
    """The same in a ledger of (1, 1e-6) under zcdp: each asks for the most that all can have."""
    return deviation(session(folder, "delta: 1.0e-6"), most(folder, count))


def most(folder: Path, count: int) -> Fraction:
    """The ε that a query asks for, so that `count` of them fit, in nine digits rounded down."""
    cap = session(folder, "delta: 1.0e-6")
    with cap._context.ledger.open() as ledger:
        rho = ledger.terms.cap.amount
    return Fraction(int(epsilon_of_rho(rho / count, CONVERSION) * 10**9) - 1, 10**9)


def deviation(asking: Session, epsilon: Fraction) -> float:
    (release,) = asking.compile(SQL, QueryOptions(epsilon)).releases
    (mechanism,) = release.step.measurement.mechanisms
    asking.close()
    return math.sqrt(mechanism.variance)


@pytest.mark.parametrize("count", [10, 100])
def test_so_many_equal_queries_fit_and_hardly_one_more(tmp_path: Path, count: int) -> None:
    epsilon = most(tmp_path, count)
    asking = session(tmp_path, "delta: 1.0e-6")
    (release,) = asking.compile(SQL, QueryOptions(epsilon)).releases
    loss = release.step.measurement.loss.amount
    with asking._context.ledger.open() as ledger:
        cap = ledger.terms.cap.amount
    assert count * loss <= cap < (count + 1) * loss


def test_no_more_queries_are_answered_than_fit(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text("id\n1\n2\n")
    epsilon = most(tmp_path, 10)
    asking = session(tmp_path, "delta: 1.0e-6")
    for number in range(10):
        assert not asking.query(f"{SQL} WHERE id > {number}", QueryOptions(epsilon)).privacy.stored
    with pytest.raises(BudgetSpent):
        asking.query(f"{SQL} WHERE id > 10", QueryOptions(epsilon))
    asking.close()


def test_many_queries_have_less_noise_than_their_sum_would_ask_for(tmp_path: Path) -> None:
    gains = {count: basic(tmp_path, count) / ours(tmp_path, count) for count in (10, 100, 1000)}
    # 3.12 and 9.87 with all of δ for the conversion; half of it is kept for choosing keys.
    assert 3.0 < gains[100] < 3.12
    assert 9.5 < gains[1000] < 9.87


def test_the_readme_has_the_table(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    lines = [
        "| equal queries | noise of each, basic composition | under this ledger | gain |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for count in (1, 10, 100, 1000):
        first, second = basic(tmp_path, count), ours(tmp_path, count)
        lines.append(f"| {count:,} | {first:,.1f} | {second:,.1f} | {first / second:.1f}× |")
    table = "\n".join(lines) + "\n"
    check_table(request, "ledger-table", table)
