"""The words of a text that differs from another in constants alone: it isn't split again.

    WHERE age > 30 AND dept = 'a'
    WHERE age > 41 AND dept = 'b'

To split a short statement takes as long as to bind one of a known shape. What stands between two
constants is the same text, and it is split as it was before: what a word is depends on what stands
before it and on the character behind it, none of which is another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.session.compile.proofs.recently_used import RecentlyUsed

MAX_WORDS: Final = 100
"""Of a text that is remembered: one of so few nests no deeper than any thread's stack is."""

MAX_CHARACTERS: Final = 4 * 1024

_CONSTANT: Final = re.compile(
    r"""
    (?<= [\s(,=<>] )
    (?: ' (?P<text> [\w .,:;+/@%&()\#-]* ) ' | (?P<number> [0-9]{1,18} (?: \. [0-9]{1,18} )? ) )
    (?= [\s),;] | \Z )
    """,
    re.VERBOSE,
)
"""A text without a quote, an escape or the end of a line, or a number of few digits.

Blanks, brackets, commas and comparisons are all that it stands between: behind an at sign, 1.5 is
three words.
"""

_UNUSUAL: Final = re.compile(r"""[^\w\s.,()<>=!*+/%|'"\0-]|--|/\*""")
"""What may begin a comment, a parameter or a text that is written in another way."""

_MARKS: Final = {"text": "'\0'", "number": "\0"}
"""What stands for constants in what is compared; no text has a NUL."""


class _KnownText(Struct, frozen=True):
    """The `words` of one text, and which of them are its constants, in their order."""

    words: tuple[Token, ...]
    constants: tuple[int, ...]

    def with_constants(self, constants: Sequence[str]) -> list[Token]:
        """The words of the text that has these constants."""
        words = list(self.words[: self.constants[0]])
        others = iter(zip(self.constants, constants, strict=True))
        following = next(others)
        moved = moved_in_line = 0
        line = self.words[self.constants[0]].line
        for index in range(len(words), len(self.words)):
            known = self.words[index]
            if known.line != line:
                line, moved_in_line = known.line, 0
            text, start = known.text, known.start + moved
            if index == following[0]:
                text = following[1]
                longer = len(text) - len(known.text)
                moved, moved_in_line = moved + longer, moved_in_line + longer
                following = next(others, (-1, ""))
            col, end = known.col + moved_in_line, known.end + moved
            words.append(Token(known.token_type, text, line, col, start, end))
        return words


class KnownWords:
    """The texts that were split last, by what they have beside their constants."""

    def __init__(self, size: int) -> None:
        self._known: RecentlyUsed[str, _KnownText] = RecentlyUsed(size)

    def words(self, sql: str) -> list[Token] | None:
        """The words of `sql`, if a text that differs in constants alone was split before."""
        if len(sql) > MAX_CHARACTERS or "\0" in sql:
            return None
        constants: list[str] = []
        known = self._known.get(_without_constants(sql, constants))
        return None if known is None else known.with_constants(constants)

    def learn(self, sql: str, words: Sequence[Token]) -> None:
        """`sql` has these `words`, and texts that have other constants in their places are alike.

        But for one with what is unusual, or with a part that only looks like a constant, as of a
        name that is quoted.
        """
        if len(sql) > MAX_CHARACTERS or len(words) > MAX_WORDS or "\0" in sql:
            return
        rest = _without_constants(sql, [])
        if _UNUSUAL.search(rest):
            return
        spans = {(word.start, word.end + 1): index for index, word in enumerate(words)}
        constants: list[int] = []
        for match in _CONSTANT.finditer(sql):
            index = spans.get(match.span(), -1)
            if index < 0 or not _is_constant(match, words[index]):
                return
            constants.append(index)
        if constants:
            self._known.put(rest, _KnownText(tuple(words), tuple(constants)))


def _is_constant(match: re.Match[str], word: Token) -> bool:
    kind = TokenType.STRING if match.lastgroup == "text" else TokenType.NUMBER
    return word.token_type is kind and word.text == match[match.lastgroup or 0]


def _without_constants(sql: str, constants: list[str]) -> str:
    """`sql` with marks for constants, which are added to `constants`."""

    def mark(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        constants.append(match[kind])
        return _MARKS[kind]

    return _CONSTANT.sub(mark, sql)
