"""A text that differs from others in constants alone is described by what is known of them."""

from __future__ import annotations

import pytest

from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.statement_errors import overflow
from dpsql.pgwire.statement_errors.overflow import DigitCheck, TooManyDigits
from dpsql.plan.operator import Plan
from dpsql.session.compile import deep_recursion
from dpsql.session.compile.generic.known_words import MAX_WORDS

FITS = "SELECT sum(amount) * 1.19 FROM orders WHERE qty > {}"
TOO_LONG = "SELECT sum(amount) * sum(amount) * sum(amount) FROM orders WHERE qty > {}"
LEARNED = 3
"""Texts until a shape is known."""


def _describe(asking: QueryService, sql: str) -> None:
    asking.columns(asking.translate(sql), (), {})


def test_no_other_thread_is_woken_to_describe_it(
    alice: QueryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(LEARNED):
        _describe(alice, FITS.format(number))
    woken: list[object] = []
    real = deep_recursion._threads.do

    def counted(task: deep_recursion._Task) -> None:
        woken.append(task)
        real(task)

    monkeypatch.setattr(deep_recursion._threads, "do", counted)
    _describe(alice, FITS.format(LEARNED))
    assert not woken
    _describe(alice, "SELECT count(*) FROM orders WHERE id > 7 AND qty > 9")
    assert woken


def test_a_long_one_is_described_where_there_is_room(alice: QueryService) -> None:
    counts = ", ".join(["count(*)"] * MAX_WORDS)
    whole, shapes = alice._session.whole, alice._session.whole.shapes
    for number in range(LEARNED + 1):
        sql = alice.translate(f"SELECT {counts} FROM orders WHERE qty > {number}").sql
        _describe(alice, sql)
    statement = whole.statements.get(sql, {})
    assert statement is not None
    assert shapes.generic(statement) is not None
    assert not shapes.is_short(statement)
    assert whole.known(sql, alice._session.schema, {}) is None


def test_its_digits_are_those_of_all_with_other_constants(
    alice: QueryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Plan] = []
    real = overflow._check_plan

    def counted(plan: Plan) -> None:
        looked.append(plan)
        real(plan)

    for number in range(LEARNED):
        _describe(alice, FITS.format(number))
    monkeypatch.setattr(overflow, "_check_plan", counted)
    for number in range(LEARNED, 2 * LEARNED):
        _describe(alice, FITS.format(number))
    assert len(looked) <= 1


def test_one_that_may_have_too_many_digits_is_refused_whatever_its_constants_are(
    alice: QueryService,
) -> None:
    for number in range(2 * LEARNED):
        with pytest.raises(TooManyDigits):
            _describe(alice, TOO_LONG.format(number))


def test_where_a_parameter_may_have_more_digits_than_the_constant_the_constant_counts(
    alice: QueryService,
) -> None:
    schema, bind = alice._session.schema, alice._session.whole.bound
    fits, too_long = (
        bind(sql, schema, {}, alice._session.saved) for sql in (FITS.format(1), TOO_LONG.format(1))
    )
    check = DigitCheck(size=4)
    check.check(fits, generic=too_long)
    with pytest.raises(TooManyDigits):
        check.check(too_long, generic=too_long)
