"""One scanner for the console, PEP 249 and the server: what it says of hostile texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from dpsql.dbapi.statements.options import split_options
from dpsql.dbapi.statements.parse import Query, read_statement
from dpsql.pgwire.sql.commands import Set, read_command
from dpsql.pgwire.sql.cursor_statement import Declare
from dpsql.sqltext.script import is_complete, parts
from dpsql.sqltext.split import semicolons, spaced, split
from dpsql.sqltext.tokens import Kind, tokens, words

QUOTED = {Kind.COMMENT, Kind.TEXT, Kind.NAME, Kind.PARAMETER}

HOSTILE = [
    "';'",
    "'it''s;'",
    r"'\'",
    '";"',
    '"a"";b"',
    "$$;$$",
    "$a$ ; $b$ ; $$ ; $a$",
    "$é$;$é$",
    r"E'\';'",
    r"e'\\'",
    "E'a'';'",
    "/* ; */",
    "/* ; /* ; */ ; */",
    "/*/**/*/",
    "-- ;'\"\n",
    "--;\r",
    "a$b$c",
    "U&';'",
    "1e-5E'\\';'",
]
"""Each is whole: no `;` in it ends a statement."""

OPEN = ["'", "'a''", '"', '"a""', "$$", "$a$ $b$", r"E'\'", "E'\\", "/*", "/* /* */", "/* '*"]
"""Each takes all that follows."""

FRAGMENTS = [*HOSTILE, *OPEN, ";", "a", "E", "$", "$1", "1", " ", "\n", "\\", "-", "*", "/", "é"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_semicolon_in_a_quote_or_comment_ends_nothing(text: str) -> None:
    script = f"SELECT {text} ; SELECT 2 ;"
    assert [piece.sql for piece in split(script)] == [f"SELECT {text} ", " SELECT 2 "]
    assert parts(script) == [f"SELECT {text} ", " SELECT 2 "]
    assert is_complete(script)
    assert not is_complete(f"SELECT {text} ")


@pytest.mark.parametrize("text", ["", " \n", "-- a", "/* a */", ";", " ; -- a\n;"])
def test_blanks_and_comments_are_no_statement(text: str) -> None:
    assert split(text) == []


@given(st.lists(st.sampled_from(["a", "'b'", "(", ")", "$1", "-- c\n", " "])).map("".join))
def test_a_semicolon_behind_the_only_statement_changes_nothing(text: str) -> None:
    assert split(text) == split(f"{text};")


@pytest.mark.parametrize("text", HOSTILE)
def test_options_in_a_quote_or_comment_are_none(text: str) -> None:
    hidden = text.replace(";", " OPTIONS (epsilon = 1)")
    sql = f"SELECT {hidden} \n"
    assert split_options(sql) == (sql, ())
    found = read_statement(f"SELECT {text} \nOPTIONS (epsilon = 0.5)")
    assert isinstance(found, Query)
    assert found.sql == f"SELECT {text} \n"
    assert [option.value for option in found.options] == ["0.5"]


@pytest.mark.parametrize("text", OPEN)
def test_what_is_not_closed_goes_to_the_end(text: str) -> None:
    script = f"SELECT {text} ; SELECT 2;"
    assert [piece.sql for piece in split(script)] == [script]
    assert parts(script) == [script]
    assert not is_complete(script)
    assert not is_complete(f"SELECT 1; {text} ")


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_tokens_are_the_text(text: str) -> None:
    found = list(tokens(text))
    assert "".join(token.text for token in found) == text
    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(piece.sql in text for piece in split(text))
    for part in parts(text):
        assert part in text
    assert not is_complete(text) or text.lstrip()[:1] == "\\" or all(t.is_closed for t in found)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(" ".join))
def test_statements_end_where_the_parser_ends_them(text: str) -> None:
    """SQL that sqlglot can cut into tokens is cut at the same semicolons."""
    try:
        theirs = Postgres().tokenize(text)
    except TokenError:
        return
    ends = [token.start for token in theirs if token.token_type is TokenType.SEMICOLON]
    assert [found.start for found in semicolons(text)] == ends


@given(st.lists(st.sampled_from(["$1", "$22", ",", " ", "a", "'$1'", "/*$1*/"])).map("".join))
def test_parameters_stand_apart_and_nothing_else_changes(text: str) -> None:
    apart, places = spaced(text)
    assert all(text[place - 1].isdigit() for place in places)
    assert apart.replace(" ", "") == text.replace(" ", "")
    assert len(apart) == len(text) + len(places)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it''s'", "it's"),
        (r"'\n'", r"\n"),
        (r"E'\t'", "\t"),
        (r"e'\'\\'''", "'\\'"),
        (r"E'\x41\101\u00e9\U0001F600'", "AAé😀"),
        (r"E'\U001FFFFF'", r"\U001FFFFF"),
        ("$$it's$$", "it's"),
        ("$a$ $$ $a$", " $$ "),
        ('"A""b"', 'A"b'),
        ("-1.5e-3", "-1.5e-3"),
        ("'open", "open"),
        ("$a$open", "open"),
    ],
)
def test_a_value_is_what_the_quotes_hold(text: str, value: str) -> None:
    (found,) = words(text)
    assert found.value == value


def test_a_thousand_open_quotes_are_read_at_once() -> None:
    for text in ("''" * 50_000 + "'", "E'" + "\\'" * 50_000, "/*" * 50_000, "$a" * 50_000):
        assert len(list(tokens(text))) <= len(text)
    assert [t.kind for t in tokens("/*" * 1000)] == [Kind.COMMENT]


def test_a_cursor_is_declared_behind_comments() -> None:
    sql = "DECLARE /* ; */ \"C 1\" NO SCROLL CURSOR WITH HOLD -- it\n FOR SELECT ';'"
    start = sql.index("SELECT")
    assert read_command(sql) == Declare("C 1", "SELECT ';'", start, hold=True, goes_back=False)


def test_a_setting_may_be_quoted_in_each_way() -> None:
    for quoted in ("'a;b'", "E'a\\;b'", "$$a;b$$", '"a;b"'):
        found = read_command(f"SET application_name = {quoted};")
        assert isinstance(found, Set)
        assert found.value == "a;b"


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_runs_are_tokens_put_together(text: str) -> None:
    """Quotes, comments, parameters and semicolons are found at the same places."""
    apart = {(t.start, t.text) for t in tokens(text) if t.kind in QUOTED or t.text == ";"}
    runs = {
        (t.start, t.text) for t in tokens(text, in_runs=True) if t.kind in QUOTED or t.text == ";"
    }
    assert runs == apart
