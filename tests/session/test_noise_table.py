"""How much noise each of many equal queries has under this ledger, and the page that tells it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from documentation.pages import check_table

from dpsql.errors import BudgetSpent
from dpsql.privacy.accounting.gdp_conversion import epsilon_of_mu_squared
from dpsql.privacy.accounting.zcdp_conversion import epsilon_of_rho
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SQL = "SELECT count(*) FROM people"
CONVERSION: dict[str, Callable[[Fraction], Fraction]] = {
    "approx": lambda amount: amount,
    "zcdp": lambda amount: epsilon_of_rho(amount, Fraction(1, 2 * 10**6)),
    "gdp": lambda amount: epsilon_of_mu_squared(amount, Fraction(9, 10**7)),
}
"""From what a ledger of each accounting adds up to ε, by its part of δ."""

SCHEMA = """\
dataset: many_ACCOUNTING
source: data
version: 1
tables:
  people: {unit: row, columns: {id: {type: bigint}}}
budget: {epsilon: 1, accounting: ACCOUNTING, DELTA}
per_query: {epsilon: 1.0e-6, max_epsilon: 1}
"""


def session(folder: Path, accounting: str) -> Session:
    path = folder / "schema.yaml"
    delta = "0" if accounting == "pure" else "1.0e-6"
    schema = SCHEMA.replace("ACCOUNTING", accounting).replace("DELTA", f"delta: {delta}")
    path.write_text(schema)
    return Session(path)


def basic(folder: Path, count: int) -> float:
    """The standard deviation of each of `count` queries that take an equal part of ε = 1."""
    return deviation(session(folder, "pure"), Fraction(1, count))


def ours(folder: Path, count: int, accounting: str = "zcdp") -> float:
    """The same in a ledger of (1, 1e-6): each asks for the most that all can have."""
    asking = session(folder, accounting)
    return deviation(asking, most(folder, count, accounting))


def most(folder: Path, count: int, accounting: str = "zcdp") -> Fraction:
    """The ε that a query asks for, so that `count` of them fit, in nine digits rounded down."""
    cap = session(folder, accounting)
    with cap._context.ledger.open() as ledger:
        amount = ledger.terms.cap.amount
    cap.close()
    if accounting == "approx":
        return amount / count
    return Fraction(int(CONVERSION[accounting](amount / count) * 10**9) - 1, 10**9)


def deviation(asking: Session, epsilon: Fraction) -> float:
    (release,) = asking.compile(SQL, QueryOptions(epsilon)).releases
    (mechanism,) = release.step.measurement.mechanisms
    asking.close()
    return math.sqrt(mechanism.variance)


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
@pytest.mark.parametrize("count", [10, 100])
def test_so_many_equal_queries_fit_and_hardly_one_more(
    tmp_path: Path, count: int, accounting: str
) -> None:
    epsilon = most(tmp_path, count, accounting)
    asking = session(tmp_path, accounting)
    (release,) = asking.compile(SQL, QueryOptions(epsilon)).releases
    loss = release.step.measurement.loss.amount
    with asking._context.ledger.open() as ledger:
        cap = ledger.terms.cap.amount
    assert count * loss <= cap < (count + 1) * loss


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
def test_no_more_queries_are_answered_than_fit(tmp_path: Path, accounting: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text("id\n1\n2\n")
    epsilon = most(tmp_path, 10, accounting)
    asking = session(tmp_path, accounting)
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


def test_a_gdp_ledger_has_a_tenth_less_noise_than_a_zcdp_ledger(tmp_path: Path) -> None:
    # 8.8 % for one query, whose noise has 1/12 of variance by rounding, and 9.1 % for many.
    for count in (1, 10, 100, 1000):
        assert 0.905 < ours(tmp_path, count, "gdp") / ours(tmp_path, count) < 0.915


def test_the_readme_has_the_table(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    lines = [
        "| equal queries | noise of each, `pure` | `approx` | `zcdp` | `gdp` | gain of `gdp` |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for count in (1, 10, 100, 1000):
        pure, best = basic(tmp_path, count), ours(tmp_path, count, "gdp")
        others = (ours(tmp_path, count, accounting) for accounting in ("approx", "zcdp"))
        noise = " | ".join(f"{each:,.1f}" for each in (pure, *others, best))
        lines.append(f"| {count:,} | {noise} | {pure / best:.1f}× |")
    table = "\n".join(lines) + "\n"
    check_table(request, "ledger-table", table)
