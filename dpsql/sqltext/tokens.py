"""A text's words, as far as statements that aren't queries need them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dpsql.errors import Span

_SKIPPED_OR_WORD: Final = re.compile(
    r"(?:\s+|--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"""|(?P<word>[^\W\d][\w$]*|"(?:[^"]|"")*"|[-+]?(?:\d[\w.]*(?:(?<=[eE])[-+]\d+)?|\.\d\w*)"""
    r"""|[eE]?'(?:[^']|'')*'|.)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A name, a number, a quoted text or a single sign, and where it stands."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after its last character."""
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        """Its place."""
        return Span(self.start, self.end)

    @property
    def folded(self) -> str:
        """As keywords are compared."""
        return self.text.casefold()

    @property
    def name(self) -> str:
        """As an identifier: folded unless quoted; of a quoted text, what is in it."""
        if self.text[:1] == '"':
            return self.text[1:-1].replace('""', '"')
        return self.value if self.text[-1:] == "'" else self.text.lower()

    @property
    def value(self) -> str:
        """As a value: a quoted text without its quotes."""
        if self.text[-1:] == "'":
            return self.text[self.text.index("'") + 1 : -1].replace("''", "'")
        return self.text[1:-1].replace('""', '"') if self.text[:1] == '"' else self.text


def words(sql: str, at: int = 0) -> Iterator[Word]:
    """The words of `sql` from `at` on; blanks and comments are passed over."""
    for found in _SKIPPED_OR_WORD.finditer(sql, at):
        if found["word"] is not None:
            yield Word(found["word"], found.start())
