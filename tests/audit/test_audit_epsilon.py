"""Lower bounds on the loss of forty releases: none is above what is charged, and one would be.

Under a loss that is 1.25 times what is charged, each canary of the long form is found with a
false-alarm probability of 10^-6. The quick form asks for less.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest
from audit.canaries import CANARIES, Canary, bound_of
from cli.cli_run import runner
from scipy.stats import beta

from dpsql.audit.empirical.clopper_pearson import high_end, low_end
from dpsql.audit.empirical.epsilon_lower_bound import audit_epsilon, rho_of_event
from dpsql.errors import BadParameter
from dpsql.privacy.accounting.loss import Accounting
from dpsql.schema.load.load import load_schema

VIOLATED = Fraction(5, 4)
QUICK = [
    Canary("SELECT count(*) FROM patients", Accounting.PURE),
    Canary("SELECT sum(cost) FROM visits", Accounting.ZCDP),
    Canary("SELECT mode(sex) FROM patients", Accounting.PURE),
]
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


@pytest.mark.parametrize("canary", QUICK, ids=lambda canary: canary.name)
def test_no_more_is_shown_than_charged(canary: Canary) -> None:
    # Fails falsely with a probability of 10^-6; misses a loss twice as large with less than 5 %.
    bound = bound_of(canary, 4000, 1e-6)
    assert not bound.is_broken
    assert bound.lower > bound.charged / 3


@pytest.mark.parametrize("canary", QUICK, ids=lambda canary: canary.name)
def test_a_loss_twice_as_large_is_found(canary: Canary) -> None:
    # Missed with a probability below 10^-6: the bound lies 5 standard errors above the charge.
    assert bound_of(canary, 8000, 1e-6, violated=Fraction(2)).is_broken


@pytest.mark.slow
@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
def test_no_more_is_shown_than_charged_at_length(canary: Canary) -> None:
    assert not bound_of(canary, 60_000, 1e-6).is_broken


@pytest.mark.slow
@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
def test_a_loss_a_quarter_larger_is_found(canary: Canary) -> None:
    # A mean's sum and count can't both be extreme, so its databases are harder to tell apart.
    draws = 240_000 if "avg" in canary.sql else 60_000
    assert bound_of(canary, draws, 1e-6, violated=VIOLATED).is_broken


def test_no_event_of_a_gaussian_asks_for_more_than_its_rho() -> None:
    # All tails of a unit Gaussian and of the same a standard deviation farther: ρ is 1/2.
    normal = NormalDist()
    tails = [(normal.cdf(x / 10), normal.cdf(x / 10 - 1)) for x in range(-20, 40)]
    found = [rho_of_event(often, seldom) for often, seldom in tails]
    assert 0.3 < max(found) < 0.5


def test_what_is_drawn_as_a_whole_has_no_bound_by_single_statistics() -> None:
    schema = load_schema(FIXTURES / "clinic" / "schema.yaml")
    with pytest.raises(BadParameter, match="drawn as a whole"):
        audit_epsilon("DECIDE AMONG age AS a, 30 AS b FROM patients BY sex", schema)


def test_there_are_forty_canaries() -> None:
    assert len({canary.name for canary in CANARIES}) == 40


@pytest.mark.parametrize("draws", [1, 10, 1000, 20_000])
@pytest.mark.parametrize("alpha", [0.05, 5e-7])
def test_the_ends_of_an_interval_are_those_of_the_beta_law(draws: int, alpha: float) -> None:
    for hits in sorted({0, 1, draws // 3, draws // 2, draws - 1, draws}):
        low = beta.ppf(alpha, hits, draws - hits + 1) if hits else 0
        high = beta.ppf(1 - alpha, hits + 1, draws - hits) if hits < draws else 1
        assert low_end(hits, draws, alpha) == pytest.approx(low, abs=1e-7)
        assert high_end(hits, draws, alpha) == pytest.approx(high, abs=1e-7)


def test_the_command_says_what_was_shown_and_what_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = runner(monkeypatch)
    sql = "SELECT city, count(*), avg(age) FROM patients GROUP BY city"
    schema = str(FIXTURES / "clinic" / "schema.yaml")
    found = run("audit", "epsilon", schema, sql, "--draws", "1000", "--format", "json")
    assert found.code == 0, found.err
    (release,) = json.loads(found.out)["releases"]
    assert 0 <= release["lower"] <= release["charged"]
    text = run("audit", "epsilon", schema, "SELECT count(*) FROM patients", "--draws", "1000").out
    assert "at least" in text
    assert "by telling apart" in text
