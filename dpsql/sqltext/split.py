"""Several statements in one text → each with its offset."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from dpsql.sqltext.tokens import Kind, Word, tokens, words


class Piece(Struct, frozen=True):
    """One statement, and the offset of its first character in the whole text."""

    sql: str
    start: int


def split(text: str) -> list[Piece]:
    """The statements of `text`; those of blanks and comments alone are left out."""
    if ";" not in text:
        return [] if is_blank(text) else [Piece(text, 0)]
    starts = [0, *(semicolon.end for semicolon in semicolons(text))]
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    pieces = (Piece(text[i:j], i) for i, j in zip(starts, ends, strict=True))
    return [piece for piece in pieces if not is_blank(piece.sql)]


def semicolons(text: str, at: int = 0) -> Iterator[Word]:
    """Each `;` from `at` on that ends a statement; those between a dashboard's charts don't."""
    depth = 0
    for token in tokens(text, at, in_runs=True):
        if token.kind is Kind.RUN:
            depth += token.text.count("(") - token.text.count(")")
        elif token.text == ";" and not (depth > 0 and _keeps_charts(text, at)):
            yield token
            depth, at = 0, token.end


def _keeps_charts(text: str, at: int) -> bool:
    """Whether the statement at `at` is CREATE [OR REPLACE] DASHBOARD, or explains it."""
    first = [word.folded for word in islice(words(text, at), 16)]
    if first[:2] == ["explain", "privacy"]:
        first = first[2:]
        if first[:1] == ["("] and ")" in first:
            first = first[first.index(")") + 1 :]
    first = first[:4]
    return first[:2] == ["create", "dashboard"] or first == ["create", "or", "replace", "dashboard"]


def is_blank(sql: str) -> bool:
    """Whether `sql` has nothing but blanks and comments."""
    return next(words(sql), None) is None


def spaced(text: str) -> tuple[str, tuple[int, ...]]:
    """`text` with a blank after each parameter, and the offsets in `text` of the added blanks.

    In $1,$2 sqlglot takes $1,$ for the beginning of a quoted text.
    """
    parameters = (token for token in tokens(text, in_runs=True) if token.kind is Kind.PARAMETER)
    ends = tuple(token.end for token in parameters if not text[token.end : token.end + 1].isspace())
    parts = [text[i:j] for i, j in zip((0, *ends), (*ends, len(text)), strict=True)]
    return " ".join(parts), ends
