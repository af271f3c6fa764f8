"""Several statements in one text → each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PIECE: Final = re.compile(
    r"""--[^\n]*"""
    r"""|(?P<comment>/\*)"""
    r"""|(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)"""
    r"""|'(?:[^']|'')*(?:'|\Z)"""
    r"""|"(?:[^"]|"")*(?:"|\Z)"""
    r"""|(?<![\w$])(?P<dollar>\$(?:[^\W\d]\w*)?\$)"""
    r"""|(?<![\w$])(?P<parameter>\$\d+)"""
    r"""|(?P<end>;)""",
    re.DOTALL,
)
_COMMENT: Final = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement, and the offset of its first character in the whole text."""

    sql: str
    start: int


def split(text: str) -> list[Piece]:
    """The statements of `text`; those of blanks and comments alone are left out."""
    pieces: list[Piece] = []
    start = at = 0
    while (found := _PIECE.search(text, at)) is not None:
        at = found.end()
        if found["end"]:
            pieces.append(Piece(text[start : found.start()], start))
            start = at
        elif found["dollar"]:
            closing = text.find(found["dollar"], at)
            at = len(text) if closing < 0 else closing + len(found["dollar"])
        elif found["comment"]:
            at = _after_comment(text, at)
    pieces.append(Piece(text[start:], start))
    return [piece for piece in pieces if not _is_blank(piece.sql)]


def spaced(text: str) -> tuple[str, tuple[int, ...]]:
    """`text` with a blank behind each parameter, and where in `text` blanks were put.

    In $1,$2 sqlglot takes $1,$ for the beginning of a quoted text.
    """
    at, parts, places = 0, list[str](), list[int]()
    while (found := _PIECE.search(text, at)) is not None:
        end = found.end()
        if found["dollar"]:
            closing = text.find(found["dollar"], end)
            end = len(text) if closing < 0 else closing + len(found["dollar"])
        elif found["comment"]:
            end = _after_comment(text, end)
        parts.append(text[at:end])
        if found["parameter"] and not text[end : end + 1].isspace():
            parts.append(" ")
            places.append(end)
        at = end
    return "".join([*parts, text[at:]]), tuple(places)


def _after_comment(text: str, at: int) -> int:
    """Comments nest."""
    depth = 1
    while depth and (found := _COMMENT.search(text, at)) is not None:
        depth += 1 if found[0] == "/*" else -1
        at = found.end()
    return len(text) if depth else at


def _is_blank(sql: str) -> bool:
    at = 0
    while (found := re.compile(r"\s+|--[^\n]*|/\*").match(sql, at)) is not None:
        at = _after_comment(sql, found.end()) if found[0] == "/*" else found.end()
    return at == len(sql)
