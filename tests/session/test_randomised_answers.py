"""Estimates over randomised answers: a thousand surveys, each with answers and noise of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from data.database import attached
from privacy.respondents import respond
from privacy.seeded import SeededRandomness

from dpsql.plan.bounded_release.estimator import LinearEstimator
from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.session.session import Session

SCHEMA = """
dataset: surveys
source: {source}
neighbors: change_one
tables:
  survey:
    unit: row
    columns:
      run: {{type: integer, bounds: [1, 1000], nullable: false}}
      smokes: {{type: boolean, randomized_response: {{epsilon: 1}}, nullable: false}}
      drink: {{type: varchar, values: [a, b, c, d, e], nullable: false,
        randomized_response: {{epsilon: 1}}}}
      age: {{type: integer, bounds: [0, 100], nullable: false}}
budget: {{epsilon: 60, delta: 1.0e-6, accounting: zcdp}}
per_query: {{epsilon: 4, max_epsilon: 20}}
"""

DRINK = RandomizedResponse.of_epsilon(Fraction(1), 5)

RUNS, ROWS = 1000, 400
SMOKE, FIRST = 120, 80
"""Of each survey's rows truly so many smoke, and drink a."""

DRINKS = [0 if place < FIRST else 1 + place % 4 for place in range(ROWS)]
TRUE = {
    "count(*)": [DRINKS.count(n) for n in range(5)],
    "sum(age)": [sum(p % 50 for p, drink in enumerate(DRINKS) if drink == n) for n in range(5)],
}
"""By what is truly drunk."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("surveys")
    randomness = SeededRandomness("answers")
    place = np.tile(np.arange(ROWS, dtype=np.int64), RUNS)
    smoke = RandomizedResponse.of_epsilon(Fraction(1))
    smokes = respond(smoke, (place < SMOKE).astype(np.int64), randomness)
    said = respond(DRINK, np.tile(np.array(DRINKS, dtype=np.int64), RUNS), randomness)
    table = pa.table(
        {
            "run": np.repeat(np.arange(1, RUNS + 1), ROWS),
            "smokes": smokes.astype(bool),
            "drink": np.array(list("abcde"))[said],
            "age": place % 50,
        }
    )
    source = folder / "data.duckdb"
    with attached(source) as connection:
        connection.register("answers", table)
        connection.execute("CREATE TABLE survey AS SELECT * FROM answers")
    file = folder / "schema.yaml"
    file.write_text(SCHEMA.format(source=source))
    with pytest.MonkeyPatch.context() as patch:
        # The folder of one test is gone with it: this ledger is that of all of them.
        patch.setenv("DPSQL_STATE", str(folder / "state"))
        found = Session(file, randomness=SeededRandomness("noise"))
    yield found
    found.close()


@pytest.mark.parametrize(
    ("aggregate", "truth"),
    [
        ("count(*) FILTER (WHERE smokes)", SMOKE),
        ("sum(CASE WHEN smokes THEN 1 ELSE 0 END)", SMOKE),
        ("count(*) FILTER (WHERE drink = 'a')", FIRST),
        ("count(*) FILTER (WHERE drink <> 'a')", ROWS - FIRST),
    ],
)
def test_the_error_of_a_thousand_estimates_is_that_of_their_formula(
    session: Session, aggregate: str, truth: int
) -> None:
    # The mean of 1,000 errors is off by more than 5 of its standard deviations with probability
    # 6·10^-7; the empirical deviation, whose own is 2.2 %, from the formula's by 12 % with 10^-7.
    answer = session.query(
        f"SELECT {aggregate}, dp_stddev({aggregate}), dp_interval_low({aggregate}),"
        f" dp_interval_high({aggregate}) FROM survey GROUP BY run"
    )
    values, deviations, low, high = (
        np.array([float(value) for value in column.to_pylist()]) for column in answer.table.columns
    )
    expected = float(np.sqrt((deviations**2).mean()))
    errors = values - truth
    assert abs(errors.mean()) < 5 * expected / math.sqrt(RUNS)
    assert 0.88 * expected < errors.std() < 1.12 * expected
    # 95 % with a deviation of 0.7 %.
    assert ((low <= truth) & (truth <= high)).mean() > 0.915


@pytest.mark.parametrize("aggregate", ["count(*)", "sum(age)"])
def test_the_error_of_groups_by_randomised_answers_is_that_of_their_formula(
    session: Session, aggregate: str
) -> None:
    # As above, for each of five answers: false with probability 4·10^-6. Of sums the formula has
    # each row as large as the largest: 100, where the mean square is 28².
    answer = session.query(
        f"SELECT drink, {aggregate}, dp_stddev({aggregate}), dp_interval_low({aggregate}),"
        f" dp_interval_high({aggregate}) FROM survey GROUP BY run, drink"
    )
    drinks, *columns = (np.array(column.to_pylist()) for column in answer.table.columns)
    assert drinks.size == 5 * RUNS
    for place, name in enumerate("abcde"):
        values, deviations, low, high = (c[drinks == name].astype(float) for c in columns)
        truth = TRUE[aggregate][place]
        expected, errors = float(np.sqrt((deviations**2).mean())), values - truth
        assert abs(errors.mean()) < 5 * expected / math.sqrt(RUNS)
        least = 0.88 if aggregate == "count(*)" else 0.2
        assert least * expected < errors.std() < 1.12 * expected
        assert ((low <= truth) & (truth <= high)).mean() > 0.915


def test_an_estimated_group_has_the_noise_of_a_row_of_the_inverse(session: Session) -> None:
    sql = "SELECT drink, count(*), dp_stddev(count(*)) FROM survey GROUP BY drink"
    (release,) = session.compile(sql).releases
    (noise,) = release.step.measurement.mechanisms
    matrix = np.full((5, 5), float(DRINK.q)) + np.eye(5) * float(DRINK.p - DRINK.q)
    (row, *_) = np.linalg.inv(matrix)
    of_noise = (row**2).sum() * float(noise.variance)
    table = session.query(sql).table
    value, stddev = (float(column[0].as_py()) for column in table.columns[1:])
    # Of the answers: dp_reference's q(1 - q)/(p - q)² of each row, and f(1 - p - q)/(p - q) more.
    p, q, n = float(DRINK.p), float(DRINK.q), ROWS * RUNS
    total = sum(float(v) for v in table.column(1).to_pylist())
    of_answers = (total * q * (1 - q) / (p - q) ** 2) + value * (1 - p - q) / (p - q)
    assert stddev == pytest.approx(
        math.sqrt(of_noise + of_answers), rel=1e-5
    )  # which is shown rounded
    assert total == pytest.approx(n, abs=200)


def test_the_formula_is_that_of_randomised_response_and_of_noise(session: Session) -> None:
    # Kairouz et al. 2016: q(1 - q)/(p - q)² of a row, or p(1 - p)/(p - q)²; for two answers alike.
    sql = "SELECT count(*) FILTER (WHERE smokes) FROM survey"
    (release,) = session.compile(sql).releases
    (output,) = release.step.bounded.outputs
    noise = RandomizedResponse.of_epsilon(Fraction(1))
    assert isinstance(output.estimator, LinearEstimator)
    said = output.estimator.row_variance
    assert said is not None
    each = noise.p * (1 - noise.p) / (noise.p - noise.q) ** 2
    assert said.inside == said.outside == each
    # The founding documents' figure: 95.95 for 10,000 rows at ε = 1.
    assert math.sqrt(10_000 * each) == pytest.approx(95.9517, abs=1e-3)


def test_sums_of_other_columns_are_estimated_too(session: Session) -> None:
    # Of the rows with place < 120, ages are 0 to 49 in turn: two and a half times 1,225, in part.
    truth = sum(place % 50 for place in range(SMOKE))
    answer = session.query("SELECT sum(age) FILTER (WHERE smokes) FROM survey GROUP BY run")
    values = np.array([float(value) for value in answer.table.column(0).to_pylist()])
    assert abs(values.mean() - truth) < 5 * values.std() / math.sqrt(RUNS)
