"""grammar_notes/*.md: `sql` blocks, and what the blocks after each say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

NOTES = Path(__file__).parent.parent.parent / "grammar_notes"

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OWN = re.compile(r"^CREATE |OPTIONS \(")


@dataclass(frozen=True)
class Claim:
    """A block that says one thing about the query before it."""

    note: Path
    line: int
    about: str
    expected: str
    sql: str
    options: dict[str, str] = field(hash=False)

    @property
    def schema(self) -> str:
        """The fixture whose schema the query is bound against."""
        return self.options.get("schema", "clinic")

    @property
    def verified(self) -> frozenset[str]:
        """The tables whose keys count as verified."""
        return frozenset(filter(None, self.options.get("verified", "").split(",")))

    @property
    def is_plain(self) -> bool:
        """Whether it is a query alone, without OPTIONS, that is not to be kept."""
        return not _OWN.search(self.sql)

    @property
    def name(self) -> str:
        return f"{self.note.stem}:{self.line}:{self.about}"


def claims() -> Iterator[Claim]:
    """Every claim of every note."""
    for note in sorted(NOTES.glob("*.md")):
        yield from _claims_of(note)


def accepted() -> list[Claim]:
    """One claim for each plain query that a note says is answered."""
    return [claim for claim in answered() if claim.is_plain]


def answered() -> list[Claim]:
    """One claim for each statement that a note says is answered: dpsql's own ones, too."""
    first: dict[tuple[str, str, frozenset[str]], Claim] = {}
    for claim in claims():
        if claim.about != "refused":
            first.setdefault((claim.sql, claim.schema, claim.verified), claim)
    return list(first.values())


def updated(note: Path, says: Callable[[Claim], str]) -> str:
    """The text of `note` with each claim as `says` has it."""
    text = note.read_text(encoding="utf-8")
    expected = {claim.line: says(claim) for claim in _claims_of(note)}

    def replaced(block: re.Match[str]) -> str:
        if block[1] == "sql":
            return block[0]
        return f"```{block[1]}{block[2]}\n{expected[_line(text, block.start())]}```"

    return _BLOCK.sub(replaced, text)


def _claims_of(note: Path) -> Iterator[Claim]:
    text = note.read_text(encoding="utf-8")
    sql, options = "", {}
    for block in _BLOCK.finditer(text):
        info = dict(part.split("=", 1) for part in block[2].split() if "=" in part)
        if block[1] == "sql":
            sql, options = block[3].strip(), info
        else:
            yield Claim(note, _line(text, block.start()), block[1], block[3], sql, options)


def _line(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1
