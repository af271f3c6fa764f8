"""Arrays in the text format → their items."""

from __future__ import annotations

import re
from typing import Final

_ITEM: Final = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s{}",\\](?:[^{}",\\]*[^\s{}",\\])?))\s*')


def items(text: str) -> list[str | None] | None:
    """The items of an array of one dimension as PostgreSQL writes it; None if it isn't one."""
    inside = text.strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        return None
    inside = inside[1:-1]
    if not inside.strip():
        return []
    found: list[str | None] = []
    at = 0
    while True:
        item = _ITEM.match(inside, at)
        if item is None:
            return None
        if item[1] is not None:
            found.append(re.sub(r"\\(.)", r"\1", item[1], flags=re.DOTALL))
        else:
            found.append(None if item[2].upper() == "NULL" else item[2])
        at = item.end()
        if at == len(inside):
            return found
        if inside[at] != ",":
            return None
        at += 1
