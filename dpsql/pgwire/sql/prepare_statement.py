"""PREPARE and EXECUTE of SQL: a query with numbered parameters, and constants for them."""

from __future__ import annotations

import re
from typing import Final

from dpsql.errors import Refused, Span, SyntaxFault
from dpsql.sqltext.tokens import Word, words

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?|[+-]?\.\d+", re.IGNORECASE)
_CAST: Final = re.compile(r": ?: [a-z][\w ]*(?:\( \d+ (?:, \d+ )?\))?", re.IGNORECASE)
_NAMED: Final = {"null": None, "true": "true", "false": "false"}


def read_prepare(sql: str) -> tuple[str, tuple[str, ...], str, int]:
    """Name, names of the parameters' types, query and its first character, of a PREPARE."""
    _, name, *rest = words(sql)
    types: list[str] = []
    if rest and rest[0].text == "(":
        listed, rest = _parenthesized(rest)
        types = [_type(part) for part in listed]
    if len(rest) < 2 or rest[0].folded != "as":
        raise SyntaxFault("PREPARE isn't written so", hint="write PREPARE name AS SELECT …")
    start = rest[1].start
    return name.name, tuple(types), sql[start:], start


def read_execute(sql: str) -> tuple[str, tuple[str | None, ...]]:
    """The name and the constants, in the text format, of an EXECUTE."""
    _, name, *rest = (word for word in words(sql) if word.text != ";")
    if not rest:
        return name.name, ()
    listed, more = _parenthesized(rest)
    if more:
        raise SyntaxFault("EXECUTE isn't written so", hint="write EXECUTE name (1, 'a')")
    return name.name, tuple(map(_constant, listed))


def _parenthesized(tokens: list[Word]) -> tuple[list[list[Word]], list[Word]]:
    """The parts between the first parenthesis and its end, and the words behind it."""
    parts: list[list[Word]] = [[]]
    depth = 0
    for n, word in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(word.text, 0)
        if not depth:
            return [part for part in parts if part], tokens[n + 1 :]
        if word.text == "," and depth == 1:
            parts.append([])
        elif n:
            parts[-1].append(word)
    raise SyntaxFault("a parenthesis isn't closed")


def _type(part: list[Word]) -> str:
    length = next((n for n, word in enumerate(part) if word.text == "("), len(part))
    named = [word.folded for word in part[:length]]
    return " ".join(named[2:] if named[:2] == ["pg_catalog", "."] else named)


def _constant(part: list[Word]) -> str | None:
    sign = part[0].text if part[0].text in {"+", "-"} else ""
    value = part[len(sign) :]
    # A cast's type is that of the parameter anyway, if it was declared.
    if _CAST.fullmatch(" ".join(word.text for word in value[1:])):
        value = value[:1]
    match value:
        case [Word() as number] if _NUMBER.fullmatch(number.text):
            return sign + number.text
        case [Word() as text] if not sign and text.text[:1] == "'":
            return text.value
        case [Word() as named] if not sign and named.folded in _NAMED:
            return _NAMED[named.folded]
        case _:
            raise Refused(
                "EXECUTE takes constants here",
                at=Span(part[0].start, part[-1].end),
                hint="write EXECUTE name (1, 'a')",
            )
