from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from cli.cli_run import runner

from dpsql.audit.attacks.attacks import AttackReport, Outcome, attack, max_right
from dpsql.audit.attacks.reconstruction import Reconstruction
from dpsql.cli.audit.html_page import page
from dpsql.errors import BadParameter


@pytest.fixture(scope="module")
def report() -> AttackReport:
    return attack(Fraction(1), trials=12, people=32)


def test_every_attack_succeeds_on_plain_duckdb(report: AttackReport) -> None:
    assert [o.name for o in report.outcomes] == [
        "differencing",
        "averaging",
        "membership",
        "group presence",
    ]
    assert all(outcome.plain == outcome.trials for outcome in report.outcomes)


def test_no_attack_on_dpsql_succeeds_more_often_than_its_loss_allows(
    report: AttackReport,
) -> None:
    # Fails falsely with a probability of less than 1 in 1,000: 4 standard errors, of 12 trials.
    assert not any(outcome.is_broken for outcome in report.outcomes)


def test_reconstruction_finds_almost_every_secret_in_plain_duckdb_alone(
    report: AttackReport,
) -> None:
    most = max(report.reconstructions, key=lambda r: r.queries)
    assert most.plain / most.people > 0.95
    limit = max_right(report.epsilon)
    slack = 4 * math.sqrt(limit * (1 - limit) / most.people)
    # Fails falsely with a probability of less than 10^-4.
    assert most.private / most.people <= limit + slack


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_attacks_at_length(epsilon: Fraction) -> None:
    found = attack(epsilon, trials=200, people=100, seed=2)
    assert all(outcome.plain == outcome.trials for outcome in found.outcomes)
    assert not any(outcome.is_broken for outcome in found.outcomes)
    most = found.reconstructions[-1]
    assert most.plain / most.people > 0.95
    limit = max_right(epsilon)
    assert most.private / most.people <= limit + 4 * math.sqrt(limit * (1 - limit) / 100)


def test_the_most_that_is_right_is_that_of_randomised_response() -> None:
    assert max_right(Fraction(1)) == pytest.approx(math.e / (1 + math.e), abs=1e-8)
    assert Outcome("x", "", 100, 100, 95, Fraction(1)).is_broken
    assert not Outcome("x", "", 100, 100, 80, Fraction(1)).is_broken


def test_an_attack_without_people_is_refused() -> None:
    with pytest.raises(BadParameter):
        attack(Fraction(1), people=1)


REPORT = AttackReport(
    Fraction(1),
    (Outcome("differencing", "a secret", 100, 100, 56, Fraction(1)),),
    (Reconstruction(64, 16, 44, 30), Reconstruction(64, 256, 64, 33)),
)


def test_the_page_needs_nothing_else() -> None:
    found = page(REPORT)
    assert found.count("<svg") == 2
    assert "differencing" in found
    assert "100.0%" in found
    assert "56.0%" in found
    assert all(word not in found for word in ("http", "<script", "<link", "<img", "url("))


def test_the_command_writes_text_or_a_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dpsql.cli.audit.attack_text.attack", lambda *_, **__: REPORT)
    run = runner(monkeypatch)
    text = run("audit", "attack")
    assert text.code == 0
    assert "differencing" in text.out
    assert run("audit", "attack", "--html", tmp_path / "report.html").code == 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
