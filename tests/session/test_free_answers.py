"""Answers that were randomised before they came: what is free of them, and what isn't."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.errors import BudgetSpent, Refused
from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.report.explanation.explanation import Explanation
from dpsql.report.local_epsilon import local_epsilon_lines
from dpsql.schema.load.load import load_schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.compile.request import SynopsisRequest
from dpsql.session.saved.create import SaveRequest
from dpsql.session.session import Session

SCHEMA = """
dataset: polls
source: {source}
neighbors: change_one
tables:
  poll:
    unit: row
    rows: 12
    columns:
      smokes: {{type: boolean, randomized_response: {{epsilon: 1}}, nullable: false}}
      drink: {{type: varchar, values: [tea, none, gin], randomized_response: {{epsilon: 2}},
        nullable: false}}
      age: {{type: integer, bounds: [0, 120], nullable: false}}
budget: {{epsilon: 1, delta: 1.0e-6, accounting: zcdp}}
per_query: {{epsilon: 1, max_epsilon: 1}}
"""

SMOKERS = "SELECT count(*) FILTER (WHERE smokes) FROM poll"
DRINKS = "SELECT drink, count(*) FROM poll GROUP BY drink"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of twelve rows five said that they smoke; six said tea, four none, two gin."""
    source = tmp_path / "data.duckdb"
    with attached(source) as connection:
        connection.execute("""CREATE TABLE poll AS SELECT i < 5 AS smokes,
            CASE WHEN i < 6 THEN 'tea' WHEN i < 10 THEN 'none' ELSE 'gin' END AS drink,
            i::INTEGER * 5 AS age FROM range(12) AS r(i)""")
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.format(source=source))
    return path


@pytest.fixture
def session(file: Path) -> Iterator[Session]:
    found = Session(file, randomness=SeededRandomness("free"))
    yield found
    found.close()


def test_an_estimate_of_answers_alone_is_that_of_what_was_said(session: Session) -> None:
    answer = session.query(SMOKERS)
    noise = RandomizedResponse.of_epsilon(Fraction(1))
    assert answer.table.column(0).to_pylist() == [round(noise.estimate(5, 12))]
    groups = session.query(DRINKS)
    of_drinks = RandomizedResponse.of_epsilon(Fraction(2), 3)
    said = {"tea": 6, "none": 4, "gin": 2}
    found = dict(zip(*(column.to_pylist() for column in groups.table.columns), strict=True))
    assert found == {name: round(of_drinks.estimate(n, 12)) for name, n in said.items()}
    assert groups.privacy.loss is None


def test_its_error_is_that_of_the_answers_alone(session: Session) -> None:
    answer = session.query(DRINKS.replace("count(*)", "count(*), dp_stddev(count(*))"))
    noise = RandomizedResponse.of_epsilon(Fraction(2), 3)
    for _, value, stddev in zip(*(c.to_pylist() for c in answer.table.columns), strict=True):
        # The value is shown rounded to a whole number: 1 of 12 rows.
        low, high = (float(noise.variance(max(0, value + d), 12)) for d in (-0.5, 0.5))
        assert low**0.5 - 1e-6 <= stddev <= high**0.5 + 1e-6


def test_it_is_free_and_the_same_however_often_it_is_asked_for(session: Session) -> None:
    first = session.query(DRINKS).table
    assert session.query(DRINKS).table.equals(first)
    assert not session.balance().spent.amount
    # Also once nothing is left.
    session.query("SELECT sum(age) FROM poll")
    with pytest.raises(BudgetSpent):
        session.query("SELECT avg(age), count(*) FILTER (WHERE smokes) FROM poll")
    assert session.query(SMOKERS).table.num_rows == 1


def test_a_release_of_it_is_kept_and_costs_nothing(session: Session) -> None:
    wanted = SaveRequest("drinks", f"CREATE RELEASE drinks AS {DRINKS}")
    kept = session.save(wanted, DRINKS.replace("count(*)", "count(*) AS n")).table
    assert session.query("SELECT drink, n FROM drinks ORDER BY drink").table.num_rows == len(kept)
    assert not session.balance().spent.amount


def test_a_synopsis_by_answers_is_refused(session: Session) -> None:
    wanted = SaveRequest("s", "CREATE SYNOPSIS", content=SynopsisRequest(2, Fraction(1)))
    with pytest.raises(Refused, match="synopsis by randomised answers"):
        session.save(wanted, "SELECT drink FROM poll")


@pytest.mark.parametrize(
    ("changes", "free"),
    [
        ({}, True),
        ({"rows: 12": "rows: 11"}, True),  # whatever it is: neighbours have as many rows
        ({"change_one": "change_one\ngroup_size: 3"}, True),
        ({"    rows: 12\n": ""}, False),
        ({"    rows: 12\n": "", "change_one": "add_remove"}, False),
        (
            {
                "unit: row\n    rows: 12": "unit: person\n    key: age",
                "tables:\n": "units: {person: {table: poll, key: age}}\ntables:\n",
            },
            False,
        ),
    ],
)
def test_what_is_free_is_so_by_the_schema_alone(
    file: Path, changes: dict[str, str], *, free: bool
) -> None:
    text = file.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    file.write_text(text)
    found = Session(load_schema(file), randomness=SeededRandomness("free"))
    for sql in (SMOKERS, DRINKS):
        loss = found.compile(sql).loss
        assert loss is not None
        assert (not loss.amount) is free
    found.close()


def test_a_number_of_rows_beside_answers_loosens_a_schema(file: Path) -> None:
    # Declared later, it makes answers free that were charged before: that is for the owner to say.
    before, after = (load_schema(path) for path in (_without_rows(file), file))
    (said,) = policy_relaxations(before.policy, after.policy)
    assert said == "the number of rows of poll was no public one, beside randomised answers"
    assert not policy_relaxations(after.policy, before.policy)


def _without_rows(file: Path) -> Path:
    found = file.with_name("uncounted.yaml")
    found.write_text(file.read_text().replace("    rows: 12\n", ""))
    return found


def test_explain_privacy_says_what_answers_lose_beside_the_ledger(session: Session) -> None:
    both = f"SELECT a.*, b.* FROM ({SMOKERS}) a, ({DRINKS}) b"
    for sql, lost in ((SMOKERS, 1), (DRINKS, 2), (both, 3), ("SELECT sum(age) FROM poll", 0)):
        price = session.explain(sql).price
        assert price is not None
        assert price.said == lost
        assert price.odds == pytest.approx(math.exp(price.epsilon + lost))
        told = "randomised before they came" in str(Explanation(session.explain(sql)))
        assert told is bool(lost)


def test_the_budget_says_what_is_promised_with_the_answers_losses(file: Path) -> None:
    (line,) = local_epsilon_lines(load_schema(file))
    assert "epsilon = 1 (smokes) + 2 (drink) = 3" in line
    assert line.endswith("stays within epsilon 4")
    file.write_text(file.read_text().replace("change_one", "change_one\ngroup_size: 3"))
    (line,) = local_epsilon_lines(load_schema(file))
    assert "3 * (1 (smokes) + 2 (drink)) = 9" in line
    assert not list(local_epsilon_lines(load_schema(_without_rows(file))))
