"""DATE '2024-01-31' before a cast, in brackets: sqlglot's parser would cast its text first.

timestamp '2024-01-31 10:00:00'::date     is a day, and was the day's midnight
int '1'::double / 2                       is a half, and was 0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

_TYPES: Final = frozenset(
    {
        *(TokenType.DATE, TokenType.TIME, TokenType.TIMETZ),
        *(TokenType.TIMESTAMP, TokenType.TIMESTAMPNTZ, TokenType.TIMESTAMPTZ),
        *(TokenType.TINYINT, TokenType.SMALLINT, TokenType.INT, TokenType.BIGINT),
        *(TokenType.DECIMAL, TokenType.FLOAT, TokenType.DOUBLE, TokenType.BOOLEAN),
        *(TokenType.TEXT, TokenType.VARCHAR, TokenType.UUID, TokenType.JSON, TokenType.JSONB),
    }
)
_ZONES: Final = (["with", "time", "zone"], ["without", "time", "zone"])
"""Words between a type's name and its constant."""


def in_brackets(words: Sequence[Token]) -> list[Token]:
    """`words`, which are those of one text, with brackets around each constant so written."""
    written = list(words)
    for n in reversed(range(1, len(words) - 1)):
        if (words[n].token_type, words[n + 1].token_type) == (TokenType.STRING, TokenType.DCOLON):
            has_zone = [word.text.lower() for word in words[max(n - 3, 0) : n]] in _ZONES
            first = n - 4 if has_zone else n - 1
            if first >= 0 and words[first].token_type in _TYPES:
                opening = _at(words[first], TokenType.L_PAREN, "(")
                closing = _at(words[n], TokenType.R_PAREN, ")")
                written[first : n + 1] = [opening, *words[first : n + 1], closing]
    return written


def _at(word: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, line=word.line, col=word.col, start=word.start, end=word.end)
