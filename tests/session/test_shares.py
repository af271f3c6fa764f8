"""What a statement may lose is divided by the answers that are drawn for it, each of them once."""

from __future__ import annotations

from fractions import Fraction

import pytest
from notes.compiler import prepared

from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.release_compiler import ReleaseCompiler

ALL = "SELECT count(*) FROM visits"
LONG = "SELECT count(*) AS n FROM (SELECT cost AS c FROM visits)"
DEAR = "SELECT count(*) FROM visits WHERE cost > 10"
AMONG = f"SELECT count(*) FROM visits WHERE cost > ({ALL})"
"""It reads the answer of another."""

STATEMENTS = [
    (ALL, 1),
    (f"SELECT ({ALL}), ({ALL})", 1),
    (f"SELECT ({ALL}), ({LONG}), ({ALL}) * 2", 1),
    (f"SELECT ({ALL}), ({DEAR}), ({ALL})", 2),
    (f"SELECT ({AMONG}), ({ALL})", 2),
    (f"SELECT ({AMONG}), ({AMONG}), ({DEAR})", 3),
]


def compiled(sql: str, schema: str = "clinic") -> CompiledStatement:
    return prepared(sql, schema, frozenset())


@pytest.mark.parametrize(("sql", "answers"), STATEMENTS)
def test_each_answer_has_a_share(sql: str, answers: int) -> None:
    statement = compiled(sql)
    shares = {r.key: r.step.measurement.loss.amount for r in statement.releases}
    assert len(shares) == answers
    share = statement.query_loss.amount / answers
    # A scale that is a fraction of few digits loses a little less.
    assert all(Fraction(99, 100) * share < amount <= share for amount in shares.values())
    assert statement.loss is not None
    assert statement.loss.amount == sum(shares.values())


def test_what_is_asked_twice_is_the_answer_that_is_asked_once() -> None:
    (once,) = compiled(ALL).releases
    assert {r.key for r in compiled(f"SELECT ({ALL}), ({ALL})").releases} == {once.key}


def test_a_statement_never_costs_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReleaseCompiler, "charged_count", lambda *_: 1)
    statement = compiled(f"SELECT ({ALL}), ({DEAR})")
    assert statement.loss is not None
    assert statement.loss.amount <= statement.query_loss.amount


def test_what_is_shown_without_noise_takes_no_share() -> None:
    exact, noisy = "SELECT count(*) FROM survey WHERE smokes", "SELECT count(*) FROM people"
    statement = compiled(f"SELECT ({exact}), ({noisy})", "trial")
    losses = {r.step.measurement.loss.amount for r in statement.releases}
    (paid,) = losses - {0}
    assert len(losses) == 2
    assert paid > statement.query_loss.amount * Fraction(99, 100)
