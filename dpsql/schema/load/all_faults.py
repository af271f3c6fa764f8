"""All faults of a schema file: each is repaired in a copy of its data, to find the next one.

A fault is reported unless a repair may have caused it: it lies in what a repair changed, or names
what a repair removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

from dpsql.errors import SchemaFault, SourceFault
from dpsql.schema.load.load import schema_of
from dpsql.schema.load.table_section.column_types import Read
from dpsql.schema.load.yaml_document import DocumentPath, read_document
from dpsql.structs import replace

_MAX_REPAIRS: Final = 200
"""A file with more faults than this isn't meant as a schema."""

_BUDGET: Final = {"epsilon": 1, "delta": Decimal("1e-6")}


def all_faults(path: Path, read: Read) -> Iterator[SchemaFault]:
    """Yields the faults of the file at `path`, in the order in which loading finds them.

    `read` reads the source's catalogue. Of a file that isn't YAML only the first fault is yielded;
    if the source can't be read, faults that depend on its columns aren't found.
    """
    try:
        document = read_document(path)
    except SchemaFault as fault:
        yield fault
        return
    # Each copy names the same source, nearly always: its catalog is read once.
    copied, read = _Copy(deepcopy(document.data)), cache(read)
    for _ in range(_MAX_REPAIRS):
        try:
            schema_of(replace(document, data=copied.data), read=read)
        except SchemaFault as fault:
            if not copied.follows(fault.document_path):
                yield fault
            if not copied.repair(fault.document_path):
                return
        except SourceFault:
            return
        else:
            return


class _Copy:
    """A copy of a schema file's data, which is repaired fault by fault."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self._repaired: set[DocumentPath] = set()
        self._removed_names: set[str | int] = set()

    def follows(self, path: DocumentPath) -> bool:
        """Whether a repair may have caused the fault at `path`."""
        if path and path[-1] in self._removed_names:
            return True
        existing = self._existing(path)
        return any(existing == repaired[: len(existing)] for repaired in self._repaired)

    def repair(self, path: DocumentPath) -> bool:
        """Change or remove what is at `path`, or around it; False if nothing is left to change."""
        existing = self._existing(path)
        while existing in self._repaired and existing:
            existing = existing[:-1]
        if not existing:
            return False
        self._repaired.add(existing)
        match existing:
            case ("budget", *_):
                self.data["budget"] = dict(_BUDGET)
                self._repaired |= {("budget",), existing}
            case ("tables", name) | ("tables", name, "unit", *_):
                self._repair_ownership(name)
            case ("tables", name, "columns", column, "type", *_):
                self.data["tables"][name]["columns"][column] = {"type": "bigint"}
                self._repaired.add(existing[:4])
            case _:
                self._remove(existing)
        return True

    def _repair_ownership(self, table: str | int) -> None:
        """Declare the table its unit's, or public; for a fault of the table itself, remove it."""
        written = self.data["tables"][table]
        if ("tables", table) in self._repaired or not isinstance(written, dict):
            self._remove(("tables", table))
            return
        units = self.data.get("units")
        kinds = units.items() if isinstance(units, dict) else ()
        own = [k for k, unit in kinds if isinstance(unit, dict) and unit.get("table") == table]
        for name in ("unit", "public", "limits"):
            written.pop(name, None)
        written |= {"unit": own[0]} if own else {"public": True}

    def _remove(self, existing: DocumentPath) -> None:
        *above, last = existing
        around = self.data
        for step in above:
            around = around[step]
        del around[last]
        if len(existing) in {2, 4}:  # a table, a unit, a view, an analyst; a column
            self._removed_names.add(last)

    def _existing(self, path: DocumentPath) -> DocumentPath:
        """The longest beginning of `path` that leads to a value of the data."""
        node = self.data
        for length, step in enumerate(path):
            match node, step:
                case dict(), _ if step in node:
                    node = node[step]
                case list(), int() if step < len(node):
                    node = node[step]
                case _:
                    return path[:length]
        return path
