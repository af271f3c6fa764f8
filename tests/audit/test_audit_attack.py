from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from cli.cli_run import runner

from dpsql.audit.attacks.attacks import AttackReport, attack
from dpsql.audit.attacks.k_anonymity import k_anonymous
from dpsql.audit.attacks.linkage import K, LinkageOutcome, link
from dpsql.audit.attacks.outcome import Outcome, max_right
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


def test_a_register_finds_rows_without_names_and_in_k_anonymous_tables_but_not_by_dpsql(
    report: AttackReport,
) -> None:
    linked = report.linkage
    assert linked.plain == linked.trials
    # Some 99 % are right. Fails falsely with a probability of less than 1 in 10,000.
    assert linked.k_anonymous / linked.trials > 0.7
    assert not linked.is_broken


@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_each_row_of_a_k_anonymous_table_looks_like_k_rows(k: int) -> None:
    random = Random(f"{k} rows")
    rows = [((random.randrange(40), random.randrange(3), 7), n) for n in range(60)]
    classes = k_anonymous(rows, k)
    assert all(len(one.values) >= k for one in classes)
    assert sorted(value for one in classes for value in one.values) == list(range(60))
    assert (len(classes) > 1) == (k <= 30)
    for known, value in rows:
        (own,) = [one for one in classes if value in one.values]
        assert own.may_have(known)
        # Ranges of other classes have none of the person's data: an outsider finds the one class.
        assert [one for one in classes if one.may_have(known)] == [own]


def test_less_than_k_rows_are_not_k_anonymous() -> None:
    with pytest.raises(ValueError, match="5-anonymous"):
        k_anonymous([((1,), 1)] * 4, 5)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_linkage_at_length(epsilon: Fraction) -> None:
    linked = link(epsilon, 400, Random(3))
    assert linked.plain == 400
    assert linked.k_anonymous / 400 > 0.8
    assert not linked.is_broken


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
    LinkageOutcome("linkage", "a diagnosis", 100, 99, 61, Fraction(1), 87),
    (Reconstruction(64, 16, 44, 30), Reconstruction(64, 256, 64, 33)),
)


def test_the_page_needs_nothing_else() -> None:
    found = page(REPORT)
    assert found.count("<svg") == 3
    assert "differencing" in found
    assert "100.0%" in found
    assert "56.0%" in found
    assert all(part in found for part in ("99.0%", "87.0%", "61.0%", f"{K}-anonymous"))
    assert all(word not in found for word in ("http", "<script", "<link", "<img", "url("))


def test_the_command_writes_text_or_a_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dpsql.cli.audit.attack_text.attack", lambda *_, **__: REPORT)
    run = runner(monkeypatch)
    text = run("audit", "attack")
    assert text.code == 0
    assert "differencing" in text.out
    assert all(part in text.out for part in ("99%", "87%", "61%", f"{K}-anonymous"))
    assert run("audit", "attack", "--html", tmp_path / "report.html").code == 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
