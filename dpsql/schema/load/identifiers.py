"""Names that every reader takes for the same: plain, in NFC, and different under casefold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.qualified_name import MAIN, identity

_LONGEST = 63  # PostgreSQL's clients cut longer ones


def is_plain(name: str) -> bool:
    """Whether `name` is a letter or _, then letters, digits and _, in NFC, in at most 63 bytes."""
    return (
        name.isidentifier()
        and unicodedata.is_normalized("NFC", name)
        and len(name.encode()) <= _LONGEST
    )


def visible_names(names: Iterable[str]) -> Mapping[str, str]:
    """Map each of `names` to a plain name: itself, or one with _ for characters not allowed.

    Names for which there is no plain name, or only one that is taken, are left out.
    """
    originals = list(names)
    visible = {name: name for name in originals if is_plain(name)}
    taken = {name.casefold() for name in visible}
    for name in originals:
        words = re.sub(r"\W+", "_", unicodedata.normalize("NFC", name)).strip("_")
        plain = words if is_plain(words) else f"_{words}"
        if name not in visible and is_plain(plain) and plain.casefold() not in taken:
            visible[name] = plain
            taken.add(plain.casefold())
    return visible


def is_table_name(name: str) -> bool:
    """Whether `name` is plain, or two plain names with a dot between: a schema's and a table's."""
    space, dot, own = name.rpartition(".")
    return is_plain(own) and (is_plain(space) if dot else True)


def check_names(document: Document, path: DocumentPath, names: Iterable[str]) -> None:
    """Refuse names under `path` that aren't plain, and pairs that SQL doesn't tell apart.

    DuckDB finds "Id" by "ID", so a column of one name could be read for one of the other.
    """
    seen: dict[str, str] = {}
    is_column = path[-1] == "columns"
    for name in names:
        if not is_plain(name):
            raise document.error(
                (*path, name),
                "not a plain name",
                f"use letters, digits and _, at most {_LONGEST} bytes, in Unicode's form NFC"
                + (", and source_name: for what the source calls it" if is_column else ""),
            )
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise document.error(
                (*path, name), f"differs from {other} only by case", "rename one of them"
            )


def check_stored(document: Document, path: DocumentPath, stored: Mapping[str, str]) -> None:
    """Refuse columns that are one column of the source; `stored` maps them to their names there.

    DuckDB finds a column by its name in any case, so that x and X are one column.
    """
    seen: dict[str, str] = {}
    for name, source_name in stored.items():
        if not source_name or not source_name.isprintable():
            at = (*path, name, "source_name")
            raise document.error(at, "names no column", "write the name that the source has")
        other = seen.setdefault(source_name.casefold(), name)
        if other != name:
            raise document.error(
                (*path, name), f"is the source's column that {other} is", "remove one of them"
            )


def check_tables(document: Document, path: DocumentPath, names: Iterable[str]) -> None:
    """Refuse names of tables and views that aren't plain, with a schema before a dot or without.

    Two that statements take for one are refused, too: of public.orders and orders, one would hide
    the other.
    """
    seen: dict[tuple[str, str], str] = {}
    for name in names:
        space, _, own = name.rpartition(".")
        if not is_table_name(name):
            raise document.error(
                (*path, name),
                "not a plain name",
                f"use letters, digits and _, at most {_LONGEST} bytes, in Unicode's form NFC, and"
                " one dot after a schema",
            )
        if space.casefold() == MAIN:
            raise document.error(
                (*path, name), "main is the schema of names without one", f"write {own}"
            )
        if space.casefold().startswith("pg_") or space.casefold() == "information_schema":
            raise document.error(
                (*path, name), f"{space} is the catalogue's schema", "copy the table to another"
            )
        other = seen.setdefault(identity(name), name)
        if other != name:
            same = other.casefold() == name.casefold()
            what = f"differs from {other} only by case" if same else f"is {other} to statements"
            raise document.error((*path, name), what, "rename one of them")
