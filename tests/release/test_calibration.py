"""Noise and threshold are chosen together, by what is shown."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached

from dpsql.bounding.options import ContributionLimits
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.release.calibration import Measurement, calibrate, has_error
from dpsql.release.noise_choice import noise_candidate
from dpsql.release.noise_choice.noise_candidate import noise_candidates
from dpsql.schema.load.load import load_schema
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

SCHEMA = """
dataset: sales
source: sales.duckdb
units: {person: {table: people, key: id}}
tables:
  people: {key: id, unit: person, columns: {id: {type: bigint}}}
  sales:
    unit: {column: person, references: people.id}
    limits: {groups: 12, rows_per_group: 12, rows: 12}
    columns: {person: {type: bigint}, clerk: {type: varchar}}
per_query: {epsilon: 1, delta: 1.0e-6}
"""


@pytest.fixture(params=["approx", "zcdp"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    with attached(tmp_path / "sales.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 1::BIGINT id")
        connection.execute("CREATE TABLE sales AS SELECT 1::BIGINT person, 'a' clerk")
    budget = f"budget: {{epsilon: 10, delta: 1.0e-5, accounting: {request.param}}}"
    (tmp_path / "schema.yaml").write_text(f"{SCHEMA}{budget}\n")
    return Session(load_schema(tmp_path / "schema.yaml"))


def measured(session: Session, sql: str, limits: ContributionLimits) -> Measurement:
    (release,) = session.compile(sql, QueryOptions(Fraction(1), limits)).releases
    return release.step.measurement


def test_noise_of_a_lower_threshold_is_chosen(session: Session) -> None:
    """At (1, 10⁻⁶) and ten groups Laplace noise has the deviation 14.1, but shows from 156 on."""
    measurement = measured(
        session, "SELECT clerk FROM sales GROUP BY 1", ContributionLimits(groups=10)
    )
    assert measurement.threshold is not None
    assert measurement.threshold <= 76
    (noise,) = measurement.mechanisms
    assert isinstance(noise, DiscreteGaussian)
    assert noise.variance < 14.5**2


@pytest.mark.parametrize(("groups", "threshold"), [(2, 31), (3, 41), (4, 48)])
def test_where_keys_alone_are_shown_the_lowest_threshold_is_chosen(
    session: Session, groups: int, threshold: int
) -> None:
    """In four groups Laplace noise has the deviation 5.6, Gaussian 9.1, and keys from 60 on."""
    limits = ContributionLimits(groups=groups)
    measurement = measured(session, "SELECT DISTINCT clerk FROM sales", limits)
    assert measurement.threshold is not None
    assert measurement.threshold <= threshold


def test_values_have_half_of_the_loss_beside_the_choice_of_keys(session: Session) -> None:
    """Weighed alike, a count of up to 12 rows in a group had a fifth, and showed groups from 78.

    Of such a count alone, rows choose the keys: here a condition leaves some of them out.
    """
    sql = "SELECT clerk, count(*) FILTER (WHERE clerk <> 'b') FROM sales GROUP BY 1"
    limits = ContributionLimits(groups=12, rows_per_group=12, rows=12)
    measurement = measured(session, sql, limits)
    count, units = measurement.mechanisms
    assert isinstance(count, DiscreteGaussian)
    assert isinstance(units, DiscreteGaussian)
    of_count, of_units = count.rho(12**2), units.rho(12)
    assert Fraction(2, 5) < of_count / (of_count + of_units) < Fraction(3, 5)
    assert count.variance < 77**2
    assert measurement.threshold is not None
    assert measurement.threshold <= 130


def test_one_count_for_both_is_as_it_was(session: Session) -> None:
    """With one row of a unit in a group, the count is the count of units: nothing is divided."""
    sql = "SELECT clerk, count(*) FROM sales GROUP BY 1"
    measurement = measured(session, sql, ContributionLimits(groups=12, rows_per_group=1))
    assert len(measurement.mechanisms) == 1


@pytest.mark.parametrize("session", ["approx"], indirect=True)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT clerk FROM sales GROUP BY 1",
        "SELECT clerk, count(*) FROM sales GROUP BY 1",
        "SELECT clerk, count(*) FILTER (WHERE clerk <> 'b') FROM sales GROUP BY 1",
    ],
)
@pytest.mark.parametrize("is_enough", [True, False])
def test_the_least_of_all_candidates_is_taken_as_if_each_were_proved(
    session: Session, sql: str, is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one δ isn't enough for noise and keys, what there is in its place is compared."""
    if not is_enough:
        monkeypatch.setattr(noise_candidate, "shares_delta", lambda *_, **__: False)
    for groups in (1, 3, 12):
        limits = ContributionLimits(groups=groups)
        (release,) = session.compile(sql, QueryOptions(Fraction(1), limits)).releases
        bounded, changes = release.step.bounded, release.sensitivity
        for epsilon in (Fraction(1, 100), Fraction(1), Fraction(30)):
            loss = PrivacyLoss(Accounting.APPROX, epsilon, Fraction(1, 10**6))
            candidates = noise_candidates(bounded, changes, loss, is_shown_by_row=False)
            assert any(one.proved for one in candidates)
            proved = [one if one.proved is None else one.proved() for one in candidates]
            best = min(proved, key=lambda one: one.error(bounded, changes))
            taken = calibrate(bounded, changes, loss)
            assert (taken.mechanisms, taken.threshold) == (best.noise, best.threshold)
            error = best.error(bounded, changes)
            factors = {0.5: True, 1: True, 1 + 1e-9: False, 2: False}
            for factor, is_as_large in factors.items():
                assert has_error(bounded, changes, loss, factor * error) is is_as_large
