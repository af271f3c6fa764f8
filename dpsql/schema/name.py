"""Names that mean the same to everyone: plain, in one normal form, different under casefold."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from dpsql.schema.document import Document, Place
from dpsql.schema.qualified import MAIN, identity

_LONGEST = 63  # PostgreSQL's clients cut longer ones


def is_plain(name: str) -> bool:
    """Decide whether `name` is a letter or _, then letters, digits and _, in NFC."""
    return (
        name.isidentifier()
        and unicodedata.is_normalized("NFC", name)
        and len(name.encode()) <= _LONGEST
    )


def is_table_name(name: str) -> bool:
    """Decide whether `name` is plain, or two plain names: a schema's, a dot, a table's."""
    space, dot, own = name.rpartition(".")
    return is_plain(own) and (is_plain(space) if dot else True)


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


def check_tables(document: Document, place: Place, names: Iterable[str]) -> None:
    """Refuse names of tables and views that aren't plain, with a schema before a dot or without.

    public.orders is the table orders, as statements mean both: one of them would hide the other.
    """
    seen: dict[tuple[str, str], str] = {}
    for name in names:
        space, _, own = name.rpartition(".")
        if not is_table_name(name):
            raise document.fault(
                (*place, name),
                "not a plain name",
                f"use letters, digits and _, at most {_LONGEST} bytes, in Unicode's form NFC, and"
                " one dot after a schema",
            )
        if space.casefold() == MAIN:
            raise document.fault(
                (*place, name), "main is the schema of names without one", f"write {own}"
            )
        if space.casefold().startswith("pg_") or space.casefold() == "information_schema":
            raise document.fault(
                (*place, name), f"{space} is the catalogue's schema", "copy the table to another"
            )
        other = seen.setdefault(identity(name), name)
        if other != name:
            same = other.casefold() == name.casefold()
            what = f"differs from {other} only by case" if same else f"is {other} to statements"
            raise document.fault((*place, name), what, "rename one of them")
