"""Placeholders in a statement's text: `?` is numbered, to be looked up as `$1` and `:name` are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import Span


def is_text(value: str) -> bool:
    """Whether every engine and protocol can carry `value`: no NUL, nor half a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def numbered(sql: str, tokens: Sequence[Token]) -> str:
    """`sql` with `$1`, `$2` … for its `?`, in their order; `tokens` are those of `sql`.

    A `:name` that is the first of a SELECT list is `$name`: sqlglot takes the colon behind SELECT
    for that of DuckDB's `alias: expression`.
    """
    if "?" not in sql and ":" not in sql:
        return sql
    parts: list[str] = []
    last = count = 0
    for before, token in zip((None, *tokens), tokens, strict=False):
        if _is_mark(token):
            count += 1
            parts += [sql[last : token.start], f"${count}"]
        elif token.token_type is TokenType.COLON and before and before.token_type in _BEFORE_ITEMS:
            parts += [sql[last : token.start], "$"]
        else:
            continue
        last = token.end + 1
    return "".join([*parts, sql[last:]])


def as_written(at: Span, tokens: Sequence[Token]) -> Span:
    """The place `at` of the numbered text in the text as it was written, whose are `tokens`."""
    return Span(_before(at.start, tokens), _before(at.end, tokens))


def _before(index: int, tokens: Sequence[Token]) -> int:
    added = 0
    for number, token in enumerate(_marks(tokens), start=1):
        if index <= token.start + added:
            break
        added += len(str(number))
    return index - added


def _marks(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if _is_mark(token)]


def _is_mark(token: Token) -> bool:
    return token.token_type is TokenType.PLACEHOLDER and token.text == "?"


_BEFORE_ITEMS: Final = frozenset({TokenType.SELECT, TokenType.DISTINCT, TokenType.ALL})
