"""grammar_notes/*.md: `sql` blocks, and what the blocks and links after each say of it.

A link to a file of grammar_notes/rewritten/ stands for a `rewritten` block that is long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

NOTES = Path(__file__).parent.parent.parent / "grammar_notes"

LINK = "[The SQL that runs]"
_BLOCK = re.compile(
    rf"^(?:```(\w+)([^\n]*)\n(.*?)^```|{re.escape(LINK)}\((rewritten/\w+\.sql)\))$",
    re.MULTILINE | re.DOTALL,
)
_OWN = re.compile(r"^CREATE |^CALIBRATE |OPTIONS \(", re.MULTILINE)


@dataclass(frozen=True)
class Claim:
    """A block that says one thing about the query before it; `file` has its text, if it is long."""

    note: Path
    line: int
    about: str
    expected: str
    sql: str
    options: dict[str, str] = field(hash=False)
    file: Path | None = None

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


def updated(note: Path, says: Callable[[Claim], str]) -> dict[Path, str]:
    """The texts of `note` and of its files, with each claim as `says` has it."""
    text = note.read_text(encoding="utf-8")
    found = {claim.line: (claim, says(claim)) for claim in _claims_of(note)}

    def replaced(block: re.Match[str]) -> str:
        if block[1] == "sql" or block[4]:
            return block[0]
        return f"```{block[1]}{block[2]}\n{found[_line(text, block.start())][1]}```"

    files = {claim.file: said for claim, said in found.values() if claim.file is not None}
    return {note: _BLOCK.sub(replaced, text), **files}


def _claims_of(note: Path) -> tuple[Claim, ...]:
    """The claims of a note as it is now: `--update-notes` writes it anew."""
    return _claims_in(note, note.read_text(encoding="utf-8"))


@cache
def _claims_in(note: Path, text: str) -> tuple[Claim, ...]:
    return tuple(_parsed(note, text))


def _parsed(note: Path, text: str) -> Iterator[Claim]:
    sql, options = "", dict[str, str]()
    for block in _BLOCK.finditer(text):
        line = _line(text, block.start())
        if block[4]:
            file = NOTES / block[4]
            said = file.read_text(encoding="utf-8")
            yield Claim(note, line, "rewritten", said, sql, options, file)
            continue
        info = dict(part.split("=", 1) for part in block[2].split() if "=" in part)
        if block[1] == "sql":
            sql, options = block[3].strip(), info
        else:
            yield Claim(note, line, block[1], block[3], sql, options)


def _line(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1
