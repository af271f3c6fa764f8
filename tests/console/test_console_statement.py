from __future__ import annotations

import pytest

from dpsql.sqltext.script import is_complete, parts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" ; ;\n", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", " SELECT 2"]),
        ("SELECT ';'; SELECT \";\"", ["SELECT ';'", ' SELECT ";"']),
        ("SELECT 'it''s; so';", ["SELECT 'it''s; so'"]),
        ("SELECT 1 -- ;\n;", ["SELECT 1 -- ;\n"]),
        ("SELECT /* ; */ 1;", ["SELECT /* ; */ 1"]),
        ("-- nothing;\n", []),
        (
            "\\dt\n\\d people\nSELECT 1;\n\\x\nSELECT 2",
            ["\\dt", "\\d people", "SELECT 1", "\\x", "SELECT 2"],
        ),
        ("SELECT 1; \\timing", ["SELECT 1", "\\timing"]),
        ("help\nSELECT 1;\n quit ;\nEXIT", ["help", "SELECT 1", "quit ;", "EXIT"]),
        ("SELECT\nquit\nFROM t;", ["SELECT\nquit\nFROM t"]),
        ("helping;", ["helping"]),
        ("SELECT 'open; SELECT 2;", ["SELECT 'open; SELECT 2;"]),
    ],
)
def test_statements_and_commands_are_told_apart(text: str, found: list[str]) -> None:
    assert parts(text) == found


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("  \n", True),
        ("\\dt", True),
        ("help", True),
        ("Quit", True),
        ("quitting", False),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1; SELECT 2", False),
        ("SELECT ';", False),
        ("SELECT /* ;", False),
        ("-- only a comment", True),
    ],
)
def test_a_statement_ends_with_a_semicolon(text: str, complete: bool) -> None:
    assert is_complete(text) == complete


def test_many_comments_are_read_at_once() -> None:
    """A comment that may end at several places is not tried in all ways."""
    text = "/* a */ " * 200
    assert not is_complete(f"{text} SELECT 1")
    assert parts(f"{text} SELECT 1") == [f"{text} SELECT 1"]
