"""A stated error is met in 95 of 100 answers, under each accounting, in each of several columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from neighbor_search.share import in_turn
from privacy.seeded import SeededRandomness

from dpsql.engine.engine import Engine
from dpsql.errors import OverTarget
from dpsql.release.add_noise import NoisyGroups
from dpsql.release.columns.group_keys import listed_keys
from dpsql.release.columns.released_table import columns
from dpsql.release.joint_noise import noisy_integers
from dpsql.schema.load.load import load_schema
from dpsql.session.options import AnswerOptions, PriceOptions, QueryOptions
from dpsql.session.run.execution import Execution
from dpsql.session.session import Session

SCHEMA = """
dataset: met
version: 1
source: nowhere
units:
  patient: {table: patients, key: id}
tables:
  patients:
    key: id
    unit: patient
    limits: {groups: 1, rows_per_group: 2}
    columns:
      id: {type: bigint}
      sex: {type: varchar, values: [F, M], nullable: false}
      smokes: {type: boolean, nullable: false}
      cost: {type: "decimal(10,2)", bounds: [0, 100], nullable: false}
budget: BUDGET
per_query: {epsilon: 0.1, max_epsilon: 8}
"""

BUDGETS = {
    "pure": "{epsilon: 64, accounting: pure}",
    "zcdp": "{epsilon: 64, delta: 1.0e-6, accounting: zcdp}",
    "gdp": "{epsilon: 64, delta: 1.0e-6, accounting: gdp}",
    "approx": "{epsilon: 64, delta: 1.0e-6, accounting: approx}",
}

SEVERAL = (
    "SELECT sex, count(*) AS n, sum(cost) AS s, count_if(smokes) AS k FROM patients GROUP BY 1"
)
ROLLUP = "SELECT sex, smokes, count(*) AS n FROM patients GROUP BY ROLLUP (sex, smokes)"
TOTAL = "SELECT count(*) AS n FROM patients"

RUNS = 1000


class Shut(Execution):
    """No statement is to open the source: it isn't there, either."""

    def source(self) -> Engine:
        raise AssertionError("private data were opened")


@pytest.fixture(params=BUDGETS)
def session(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.replace("BUDGET", BUDGETS[request.param]))
    schema = load_schema(path)
    found = Session(schema, execution=Shut(schema, lambda _: None))
    yield found
    found.close()


def least_hits(runs: int, chance: float, failing: float) -> int:
    """The most that a binomial number falls below with probability `failing` at most, exactly."""
    below = 0.0
    for hits in range(runs + 1):
        below += math.comb(runs, hits) * chance**hits * (1 - chance) ** (runs - hits)
        if below > failing:
            return hits
    raise AssertionError


@pytest.mark.parametrize(
    ("sql", "most", "consistent"),
    in_turn(
        (
            (f"{name}-{'consistent' if consistent else 'drawn'}", (sql, most, consistent))
            for name, sql, most in (
                ("one", TOTAL, 25), ("several", SEVERAL, 900), ("rollup", ROLLUP, 30),
            )
            for consistent in (False, True)
        ),
        share=5,
    ),
)  # fmt: skip
def test_95_of_100_answers_are_within(
    session: Session, sql: str, most: int, *, consistent: bool
) -> None:
    """1,000 draws of each value: fewer are within than fails falsely 1e-6 of the time.

    Noise is all that a statement without rows has; its formulas are those of any other.
    """
    price, answer = PriceOptions(max_error=Fraction(most)), AnswerOptions(consistent=consistent)
    prepared = session.compile(sql, QueryOptions(answer=answer, price=price))
    hits: dict[str, np.ndarray] = {}
    for run in range(RUNS):
        drawn = {}
        for release in prepared.releases:
            step = release.step
            keys = listed_keys(step.bounded, step.query).ordered
            count = len(keys[0]) if keys else 1
            mechanisms = step.measurement.mechanisms
            zeros = [np.zeros(count, dtype=np.int64) for _ in mechanisms]
            seeded = SeededRandomness(f"{release.name}/{run}")
            noisy = tuple(noisy_integers(mechanisms, zeros, seeded))
            groups = NoisyGroups(keys, count, noisy)
            drawn[release.name] = columns(step.bounded, groups, step.measurement)
        for name, table in prepared.consistency.tables(drawn).items():
            release = next(r for r in prepared.releases if r.name == name)
            for output in release.step.bounded.outputs:
                values = np.array(
                    [float(v) for v in table.column(f"c{output.column.id}").to_pylist()]
                )
                found = hits.setdefault(f"{name}.{output.column.id}", np.zeros(values.size))
                found += np.abs(values) <= most
    least = least_hits(RUNS, 0.95, 1e-6)
    assert 0.9 * RUNS < least < 0.95 * RUNS
    assert len(hits) == {TOTAL: 1, SEVERAL: 3, ROLLUP: 3}[sql]
    assert all(found.min() >= least for found in hits.values())


def test_what_is_reachable_is_told_without_data(session: Session) -> None:
    options = QueryOptions(price=PriceOptions(max_error=Fraction(1, 1000)))
    with pytest.raises(OverTarget) as refused:
        session.compile(SEVERAL, options)
    reachable = Fraction(refused.value.hint.split("= ")[1].split(",")[0])
    options = QueryOptions(price=PriceOptions(max_error=reachable))
    assert session.compile(SEVERAL, options).releases
