r"""The tokens of a text, as PostgreSQL and DuckDB's parser agree on them.

This is the only scanner of statements: where one ends, which words it begins with and which options
it ends with are all read from these tokens. A `;` in a quoted text, in a quoted name, in a text
between `$tag$` or in a comment is part of that token. Comments nest, E'…' takes backslashes, and a
`--` comment ends at either of \n and \r.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from dpsql.errors import Span

# Repetitions are possessive: an unclosed quote is not tried in all ways.
_QUOTED: Final = (
    r"(?P<BLANK>\s++)"
    r"|(?P<COMMENT>--[^\n\r]*+|/\*)"
    r"|(?P<TEXT>[eE]'(?:[^'\\]|''|\\(?:.|\Z))*+(?P<closed_e>')?"
    r"|'(?:[^']|'')*+(?P<closed_text>')?"
    r"|(?P<dollar>\$(?:[^\W\d]\w*+)?\$))"
    r'|(?P<NAME>"(?:[^"]|"")*+(?P<closed_name>")?)'
    r"|(?P<PARAMETER>\$\d++)"
)
_WORD: Final = r"[^\W\d][\w$]*+"
_NUMBER: Final = r"[-+]?(?:\d[\w.]*+(?:(?<=[eE])[-+]\d++)?|\.\d\w*+)"
_TOKEN: Final = re.compile(
    rf"{_QUOTED}|(?P<WORD>{_WORD})|(?P<NUMBER>{_NUMBER})|(?P<SIGN>.)", re.DOTALL
)
_TOKEN_OR_RUN: Final = re.compile(
    rf"{_QUOTED}|(?P<RUN>(?:(?![eE]'|--|/\*)(?:{_WORD}|{_NUMBER}|[^'\"$;\w]))++)|(?P<SIGN>.)",
    re.DOTALL,
)
_COMMENT: Final = re.compile(r"/\*|\*/")
_ESCAPE: Final = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|U(00[01][0-9A-Fa-f]{5})|(.))|''",
    re.DOTALL,
)
QUERY_WORDS: Final = frozenset({"select", "with"})
"""Words that begin queries, and no statement of another kind, folded."""

_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Kind(Enum):
    """The kind of a token; RUN is a token of `tokens(…, in_runs=True)` alone."""

    BLANK = auto()
    COMMENT = auto()
    TEXT = auto()
    NAME = auto()
    PARAMETER = auto()
    WORD = auto()
    NUMBER = auto()
    SIGN = auto()
    RUN = auto()


class Word(Struct, frozen=True):
    """A token and its offset in the text; `is_closed`: its quote or comment ends in the text."""

    text: str
    start: int
    kind: Kind = Kind.WORD
    is_closed: bool = True

    @property
    def end(self) -> int:
        """The offset after the token's last character."""
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        """The token's place in the text."""
        return Span(self.start, self.end)

    @property
    def folded(self) -> str:
        """The token as keywords are compared: casefolded."""
        return self.text.casefold()

    @property
    def name(self) -> str:
        """The token as an identifier: in lower case unless it is quoted, without its quotes."""
        return self.value if self.kind in {Kind.NAME, Kind.TEXT} else self.text.lower()

    @property
    def value(self) -> str:
        """The token as a value: a quoted text without its quotes, its escapes replaced."""
        end = -1 if self.is_closed else None
        match self.kind, self.text[:1]:
            case Kind.NAME, _:
                return self.text[1:end].replace('""', '"')
            case Kind.TEXT, "$":
                tag = self.text.index("$", 1) + 1
                return self.text[tag : -tag if self.is_closed else None]
            case Kind.TEXT, "'":
                return self.text[1:end].replace("''", "'")
            case Kind.TEXT, _:
                return _ESCAPE.sub(_character, self.text[2:end])
            case _:
                return self.text


def words(sql: str, at: int = 0) -> Iterator[Word]:
    """The tokens of `sql` from the offset `at` on, without blanks and comments."""
    return (t for t in tokens(sql, at) if t.kind not in {Kind.BLANK, Kind.COMMENT})


def tokens(sql: str, at: int = 0, *, in_runs: bool = False) -> Iterator[Word]:
    """The tokens of `sql` from the offset `at` on; put together, they are the text.

    `in_runs`: all text between quotes, comments, parameters and semicolons is one token, which is
    ten times as fast.
    """
    pattern = _TOKEN_OR_RUN if in_runs else _TOKEN
    while (match := pattern.match(sql, at)) is not None:
        assert match.lastgroup is not None
        kind = Kind[match.lastgroup]
        end, is_closed = match.end(), True
        if match["dollar"] is not None:
            end, is_closed = _after_dollar(sql, end, match["dollar"])
        elif match[0] == "/*":
            end, is_closed = _after_comment(sql, end)
        elif kind in {Kind.TEXT, Kind.NAME}:
            is_closed = any(match[name] for name in ("closed_e", "closed_text", "closed_name"))
        yield Word(sql[at:end], at, kind, is_closed)
        at = end


def _after_dollar(sql: str, at: int, tag: str) -> tuple[int, bool]:
    closing = sql.find(tag, at)
    return (len(sql), False) if closing < 0 else (closing + len(tag), True)


def _after_comment(sql: str, at: int) -> tuple[int, bool]:
    depth = 1
    while depth:
        match = _COMMENT.search(sql, at)
        if match is None:
            return len(sql), False
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at, True


def _character(match: re.Match[str]) -> str:
    octal, *hexadecimal, letter = match.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    if octal is not None:
        return chr(int(octal, 8))
    digits = next((digits for digits in hexadecimal if digits is not None), None)
    if digits is None:
        return "'"
    code = int(digits, 16)
    return chr(code) if code <= sys.maxunicode else match[0]
