from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import Refused, Span, UnknownTable
from dpsql.report.terminal.error_message import describe


def said(sql: str, start: int, end: int) -> list[str]:
    """The lines about the place, without colours."""
    error = UnknownTable("no", at=Span(start, end))
    return click.unstyle(describe(error, sql)).splitlines()[1:-1]


@pytest.mark.parametrize(
    ("sql", "marked", "lines"),
    [
        ("SELECT x FROM y", "x", ["  SELECT x FROM y", "         ^"]),
        ("SELECT\n\tabc\nFROM y", "abc", ["  line 2:  abc", "           ^^^"]),
        ("a\r\nbcd\r\n", "bcd", ["  line 2: bcd", "          ^^^"]),
        ("SELECT '日本', x FROM y", "x", ["  SELECT '日本', x FROM y", " " * 17 + "^"]),
        ("SELECT f(a,\n b) FROM y", "f(a,\n b)", ["  line 1: SELECT f(a,", " " * 17 + "^^^^"]),
    ],
)
def test_the_place_is_underlined(sql: str, marked: str, lines: list[str]) -> None:
    start = sql.index(marked)
    assert said(sql, start, start + len(marked)) == lines


def test_of_a_long_line_the_neighbourhood_is_shown() -> None:
    sql = "SELECT " + "a, " * 200 + "here, " + "b, " * 200
    start = sql.index("here")
    line, carets = said(sql, start, start + 4)
    assert len(line) < 120
    assert line[carets.index("^") : carets.rindex("^") + 1] == "here"


def test_message_detail_hint_and_sqlstate_follow_each_other() -> None:
    error = Refused("no rule", detail="since", hint="write this")
    assert click.unstyle(describe(error)) == (
        "error: no rule\ndetail: since\nhint: write this\nsqlstate: 0A000"
    )


def test_what_a_message_quotes_does_not_act_on_the_terminal() -> None:
    text = click.unstyle(describe(UnknownTable("no \x1b[2J", hint="\x07"), "x"))
    assert all(line.isprintable() for line in text.split("\n"))


@given(st.text(max_size=80), st.integers(0, 100), st.integers(0, 100))
def test_any_place_in_any_text_is_underlined(sql: str, start: int, length: int) -> None:
    line, carets = said(sql, start, start + length)
    assert line.isprintable()
    assert set(carets) <= {" ", "^"}
    assert "^" in carets
