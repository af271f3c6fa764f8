"""Where one statement ends and the next begins: at a `;` outside of quotes and comments."""

from __future__ import annotations

import re
from typing import Final

_PART: Final = re.compile(
    r"--[^\n]*"
    r"|/\*.*?(?:\*/|\Z)"
    r"|'(?:[^']|'')*(?:'|\Z)"
    r'|"(?:[^"]|"")*(?:"|\Z)'
    r"|;"
    r"|.",
    re.DOTALL,
)
# Atomic: a comment that could also end later would be tried in all ways.
_NOTHING: Final = re.compile(r"(?:\s|(?>--[^\n]*(?:\n|\Z))|(?>/\*.*?\*/))*+", re.DOTALL)


def parts(text: str) -> list[str]:
    r"""The statements of `text`, without their `;`, and its commands: lines that begin with `\`."""
    found: list[str] = []
    while not _NOTHING.fullmatch(text):
        if text.lstrip().startswith("\\"):
            part, _, text = text.lstrip().partition("\n")
            found.append(part.strip())
        else:
            part, text = _cut(text)
            if not _NOTHING.fullmatch(part):
                found.append(part)
    return found


def is_complete(text: str) -> bool:
    """Tell whether `text` is nothing, a backslash command, or ends after a `;`."""
    if text.lstrip().startswith("\\") or _NOTHING.fullmatch(text):
        return True
    return bool(_NOTHING.fullmatch(_after_last(text)))


def _cut(text: str) -> tuple[str, str]:
    """The text before the first semicolon, and that after it."""
    for part in _PART.finditer(text):
        if part[0] == ";":
            return text[: part.start()], text[part.end() :]
    return text, ""


def _after_last(text: str) -> str:
    ends = [part.end() for part in _PART.finditer(text) if part[0] == ";"]
    return text[ends[-1] :] if ends else text
