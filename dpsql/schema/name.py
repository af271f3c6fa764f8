"""Names that mean the same to everyone: plain, in one normal form, different under casefold."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from dpsql.schema.document import Document, Place

_LONGEST = 63  # PostgreSQL's clients cut longer ones


def is_plain(name: str) -> bool:
    """Decide whether `name` is a letter or _, then letters, digits and _, in NFC."""
    return (
        name.isidentifier()
        and unicodedata.is_normalized("NFC", name)
        and len(name.encode()) <= _LONGEST
    )


def check_names(document: Document, place: Place, names: Iterable[str]) -> None:
    """Refuse names under `place` that aren't plain, and pairs that SQL doesn't tell apart.

    DuckDB finds "Id" by "ID", so a column of one name could be read for one of the other.
    """
    seen: dict[str, str] = {}
    for name in names:
        if not is_plain(name):
            raise document.fault(
                (*place, name),
                "not a plain name",
                f"use letters, digits and _, at most {_LONGEST} bytes, in Unicode's form NFC",
            )
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise document.fault(
                (*place, name), f"differs from {other} only by case", "rename one of them"
            )
