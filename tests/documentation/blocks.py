"""Blocks of code in a page, and the marks that say how tests run them.

A mark is an HTML comment on the line before a block, or before another mark:

| mark              | means                                                                       |
| ----------------- | --------------------------------------------------------------------------- |
| `world: NAME`     | this block and those below it run in a folder that `worlds.py` makes        |
| `file: NAME`      | the block is written to that file; by an editor where one is called before  |
| `refused`         | the last statement of the block is refused                                  |
| `needs: PROGRAM`  | the block runs where that program is installed                              |
| `not run: REASON` | no test runs it                                                             |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from documentation.pages import ROOT

RUN: Final = frozenset({"sh", "sql", "python", "yaml", "json"})
"""Languages of blocks that tests run; `text` is what is shown, and stands for itself."""

MARKS: Final = frozenset({"world", "file", "refused", "needs", "not run"})
_BLOCK: Final = re.compile(
    r"^(?P<marks>(?:<!-- [^\n]* -->\n)*)```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK: Final = re.compile(r"<!-- (?P<name>[\w ]+?)(?:: (?P<value>.+?))? -->")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str] = field(hash=False)

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of `page`, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("language")) + 1,
            found["language"],
            found["text"],
            {mark["name"]: mark["value"] or "" for mark in _MARK.finditer(found["marks"])},
        )
        for found in _BLOCK.finditer(text)
    ]


def inline(page: Path) -> list[str]:
    """Code within lines of `page`, without what stands in blocks."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
