from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.console.cost_confirmation import Consent, confirm
from dpsql.dbapi.suggested_fix import proposal
from dpsql.errors import Refused, Span


@pytest.mark.parametrize(
    ("sql", "span", "hint", "found"),
    [
        (
            "SELECT *",
            Span(0, 8),
            "aggregate over units: SELECT count(*) FROM t",
            "SELECT count(*) FROM t;",
        ),
        ("SELECT *", Span(0, 8), "write SELECT …", None),
        ("SELECT x FROM staf", Span(14, 18), "did you mean staff?", None),
        ("SELECT x FROM STAF", Span(14, 18), "did you mean staff?", None),
        ("SELECT *", Span(0, 8), "", None),
    ],
)
def test_what_can_be_sent_as_it_is_is_proposed(
    sql: str, span: Span | None, hint: str, found: str | None
) -> None:
    assert proposal(Refused("no", at=span, hint=hint), sql) == found


def test_the_fix_of_a_refusal_is_proposed() -> None:
    error = Refused("no", at=Span(14, 18), fix="staff")
    assert proposal(error, "SELECT x FROM staf") == "SELECT x FROM staff;"


@pytest.mark.parametrize(
    ("share", "answer", "consent"),
    [
        (Fraction(1, 5), "", Consent.YES),
        (Fraction(21, 100), "", Consent.NO),
        (Fraction(21, 100), "y", Consent.YES),
        (Fraction(21, 100), " Yes ", Consent.YES),
        (Fraction(21, 100), "no", Consent.NO),
        (Fraction(21, 100), "quit", Consent.QUIT),
        (Fraction(21, 100), "\\q", Consent.QUIT),
        (Fraction(1), "y", Consent.YES),
    ],
)
def test_a_query_that_takes_over_a_fifth_needs_a_yes(
    share: Fraction, answer: str, consent: Consent
) -> None:
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    assert confirm(share, ask) is consent
    assert bool(asked) == (share > Fraction(1, 5))


@pytest.mark.parametrize("error", [EOFError, KeyboardInterrupt])
def test_silence_means_no(error: type[BaseException]) -> None:
    def ask(_: str) -> str:
        raise error

    assert confirm(Fraction(1, 2), ask) is Consent.NO
