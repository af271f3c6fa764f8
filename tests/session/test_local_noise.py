"""Numbers that people added noise to before they came: what is estimated of them, and what is free.

Statistical tests fail by chance with a probability of at most 1 in 10^6 each.
"""

from __future__ import annotations

import math
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.errors import Refused
from dpsql.privacy.mechanisms.local_noise import LocalNoise, add_local_noise
from dpsql.report.local_epsilon import local_epsilon_lines
from dpsql.schema.load.load import load_schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.session import Session

PEOPLE = 4000
"""Heights around 178 cm and 162 cm, as in the document's example of people and nodes."""

SCHEMA = f"""
dataset: heights
source: {{source}}
neighbors: change_one
tables:
  nodes:
    unit: row
    rows: {PEOPLE}
    columns:
      height: {{{{type: double, nullable: false,
        local_noise: {{{{epsilon: 2, bounds: [100, 250]}}}}}}}}
      age: {{{{type: integer, bounds: [0, 120], nullable: false}}}}
budget: {{{{epsilon: 1, delta: 1.0e-6, accounting: zcdp}}}}
per_query: {{{{epsilon: 1, max_epsilon: 1}}}}
"""

TRUE = [178 + (i % 15) - 7 if i % 2 else 162 + (i % 13) - 6 for i in range(PEOPLE)]


def noisy(seed: str) -> list[float]:
    return add_local_noise(TRUE, epsilon=2, bounds=(100, 250), randomness=SeededRandomness(seed))


def opened(folder: Path, heights: list[float], seed: str = "local") -> Session:
    source = folder / "data.duckdb"
    rows = pa.table({"height": heights, "age": [i % 90 for i in range(len(heights))]})
    with attached(source) as connection:
        connection.register("rows", rows)
        connection.execute(
            "CREATE OR REPLACE TABLE nodes AS SELECT height, age::INT AS age FROM rows"
        )
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(source=source))
    return Session(path, randomness=SeededRandomness(seed))


def shown(session: Session, sql: str) -> dict[str, float]:
    answer = session.query(sql)
    values = (column.to_pylist()[0] for column in answer.table.columns)
    return dict(zip(answer.names, values, strict=True))


def test_means_are_unbiased_and_their_intervals_hold_the_noise_of_every_number(
    tmp_path: Path,
) -> None:
    """Its deviation is scale·√2/√n, 75·√(2/4000) = 1.68 cm."""
    session = opened(tmp_path, noisy("one"))
    sql = (
        "SELECT avg(height) AS mean, dp_stddev(avg(height)) AS s, sum(height) AS total,"
        " dp_stddev(sum(height)) AS t, dp_interval_low(avg(height)) AS low FROM nodes"
    )
    row = shown(session, sql)
    deviation = 75 * math.sqrt(2 / PEOPLE)
    assert row["s"] == pytest.approx(deviation)
    assert row["t"] == pytest.approx(deviation * PEOPLE)
    truth = sum(TRUE) / PEOPLE
    assert abs(row["mean"] - truth) < 5 * deviation
    assert abs(row["total"] / PEOPLE - truth) < 5 * deviation
    assert row["low"] == pytest.approx(row["mean"] - 1.96 * deviation, abs=0.01 * deviation)
    session.close()


def test_means_over_all_rows_are_free_and_have_no_noise_of_ours(tmp_path: Path) -> None:
    session = opened(tmp_path, noisy("two"))
    answer = session.query("SELECT avg(height) FROM nodes")
    assert answer.privacy.loss is None
    low, high = LocalNoise(Fraction(2), Fraction(100), Fraction(250)).bounds
    clamped = [min(max(x, float(low)), float(high)) for x in noisy("two")]
    assert answer.table.column(0).to_pylist() == [pytest.approx(sum(clamped) / PEOPLE)]
    assert list(local_epsilon_lines(load_schema(tmp_path / "schema.yaml"))) == [
        (
            "beside it, in no ledger: answers of nodes were randomised with epsilon = 2 (height),"
            " lost once if they are asked for; of its rows all that is answered stays within"
            " epsilon 3"
        )
    ]
    session.close()


def test_beside_other_columns_sums_have_both_variances(tmp_path: Path) -> None:
    session = opened(tmp_path, noisy("three"))
    sql = "SELECT sum(height) AS total, dp_stddev(sum(height)) AS s FROM nodes WHERE age < 45"
    assert session.query(sql).privacy.loss is not None
    row = shown(session, sql)
    local = 75 * math.sqrt(2 * 2000)
    # The release's own noise: of one number a width of 150 + 20·75, for half of the loss.
    assert local < row["s"] < 20 * local
    truth = sum(t for i, t in enumerate(TRUE) if i % 90 < 45)
    assert abs(row["total"] - truth) < 5 * row["s"]
    session.close()


def test_what_would_take_noise_for_heights_is_refused(tmp_path: Path) -> None:
    session = opened(tmp_path, noisy("four"))
    tall = "FILTER (WHERE height > 170)"
    for asked in ("median(height)", "max(height)", f"count(*) {tall}", f"sum(height) {tall}"):
        with pytest.raises(Refused, match="no unbiased estimate is known"):
            session.query(f"SELECT {asked} FROM nodes")
    session.close()


def test_a_view_may_pass_noisy_numbers_on_but_not_bound_them(tmp_path: Path) -> None:
    opened(tmp_path, noisy("six")).close()
    path = tmp_path / "schema.yaml"
    view = "views: {people: {query: SELECT height AS h FROM nodes%s}}\n"
    text = path.read_text()
    path.write_text(text + view % "")
    with closing(Session(path)) as session:
        mean = shown(session, "SELECT avg(h) AS mean FROM people")["mean"]
        assert mean == shown(session, "SELECT avg(height) AS mean FROM nodes")["mean"]
    path.write_text(text + view % ", columns: {h: {bounds: [100, 250]}}")
    with (
        closing(Session(path)) as session,
        pytest.raises(Refused, match="within a view's own bounds") as refused,
    ):
        session.query("SELECT avg(h) FROM people")
    assert refused.value.hint == "its owner can leave the bounds of h out of the view"


def test_the_number_of_rows_and_the_noise_are_held_by_the_ledger(tmp_path: Path) -> None:
    opened(tmp_path, noisy("five")).close()
    path = tmp_path / "schema.yaml"
    text = path.read_text()
    old = load_schema(path).policy
    for new, says in [
        ("epsilon: 3", "local_noise of nodes.height was another"),
        ("epsilon: 2, bounds: [100, 300]", "local_noise of nodes.height was another"),
    ]:
        path.write_text(
            text.replace("epsilon: 2, bounds: [100, 250]" if "b" in new else "epsilon: 2", new)
        )
        assert any(says in line for line in policy_relaxations(old, load_schema(path).policy))
    path.write_text(text.replace(f"    rows: {PEOPLE}\n", ""))
    before = load_schema(path).policy
    assert any("no public one" in line for line in policy_relaxations(before, old))


def test_noise_is_laplace_of_the_width_of_the_bounds_on_a_grid() -> None:
    """P(|noise| ≥ scale) is 1/e; of 40,000, 5 deviations are 483."""
    count = 40_000
    for value in (-5, 0, 3, 10, math.inf):
        noise = add_local_noise(
            [value] * count, epsilon=0.5, bounds=(0, 10), randomness=SeededRandomness(str(value))
        )
        true = min(max(value, 0), 10)
        far = sum(abs(x - true) >= 20 for x in noise)
        assert abs(far - count / math.e) < 483
        assert abs(sum(noise) / count - true) < 5 * 20 * math.sqrt(2 / count)
        # Whatever the number was, the noisy ones are on one grid.
        assert all((x * 2**20 / 10).is_integer() for x in noise)


def test_what_noise_cannot_hide_is_an_error() -> None:
    for values, epsilon, bounds in [
        ([math.nan], 1, (0, 1)),
        ([0.5], 0, (0, 1)),
        ([0.5], -1, (0, 1)),
        ([0.5], 1, (1, 1)),
        ([0.5], 1, (0, math.inf)),
    ]:
        with pytest.raises((ValueError, OverflowError)):
            dpsql.add_local_noise(values, epsilon=epsilon, bounds=bounds)
    assert dpsql.add_local_noise([], epsilon=1, bounds=(0, 1)) == []
