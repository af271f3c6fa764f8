"""Incomes of 100,413 businesses, log-normal (10, 2): sums within limits that nobody declared.

80 seeded runs, each with its own ladder of ε = 0.5, which serves a sum over all of them and one
over the 403 of a state, at ε = 1. By the rule of thumb, a bound beyond which 2.5 % of them are, the
first is off by 23 %, by the best bound in hindsight by 0.6 %; the second by 19 and 9 %.
"""

from __future__ import annotations

import statistics
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.session.ladders.draw_ladders import LadderSpec
from dpsql.session.session import Session

SCHEMA = """
dataset: firms
source: firms.duckdb
tables:
  firms:
    unit: row
    limits: calibrated
    columns:
      income: {type: double}
      state: {type: varchar, values: [VT, TX]}
budget: {epsilon: 3}
per_query: {epsilon: 1}
"""

FIRMS, OF_VERMONT, RUNS = 100_413, 403, 80

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def firms(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    folder = tmp_path_factory.mktemp("firms")
    drawn = np.random.default_rng(403).lognormal(10, 2, FIRMS)
    states = ["VT"] * OF_VERMONT + ["TX"] * (FIRMS - OF_VERMONT)
    rows = pa.table({"income": drawn, "state": states})
    with attached(folder / "firms.duckdb") as connection:
        connection.register("drawn", rows)
        connection.execute("CREATE TABLE firms AS SELECT * FROM drawn")
    (folder / "schema.yaml").write_text(SCHEMA)
    return folder, {"all": float(drawn.sum()), "VT": float(drawn[:OF_VERMONT].sum())}


def sums(session: Session) -> tuple[float, float]:
    """The sum over all, and that over Vermont, after a ladder was drawn."""
    spec = LadderSpec("CALIBRATE firms MEASURE income BY state", "CALIBRATE", Fraction(1, 2))
    session.calibrate(spec)
    whole = "SELECT sum(income) FROM firms"
    answers = [session.query(sql) for sql in (whole, f"{whole} WHERE state = 'VT'")]
    first, second = (float(answer.table.column(0)[0].as_py()) for answer in answers)
    return first, second


def test_sums_of_all_and_of_a_small_state_are_near_the_true_ones(
    firms: tuple[Path, dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, true = firms
    errors: dict[str, list[float]] = {"all": [], "VT": []}
    for run in range(RUNS):
        monkeypatch.setenv("DPSQL_STATE", str(folder / f"state {run}"))
        randomness = SeededRandomness(f"incomes {run}")
        with closing(Session(folder / "schema.yaml", randomness=randomness)) as session:
            for name, value in zip(errors, sums(session), strict=True):
                errors[name].append(abs(value - true[name]) / true[name])
    medians = {name: statistics.median(each) for name, each in errors.items()}
    assert medians["all"] <= 0.025
    assert medians["VT"] <= 0.15
