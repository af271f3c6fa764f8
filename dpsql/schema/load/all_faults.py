"""All faults of a schema file: each is mended in a copy, to see what else is wrong.

A fault is told if it isn't one that the mending made: of what was taken out, or of who names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

from dpsql.errors import SchemaFault, SourceFault
from dpsql.schema.load.column_types import Read
from dpsql.schema.load.load import schema_of
from dpsql.schema.load.yaml_document import DocumentPath, read_document

_MAX_MENDED: Final = 200
"""A file with more faults than that is of another kind."""

_BUDGET: Final = {"epsilon": 1, "delta": Decimal("1e-6")}


def all_faults(path: Path, read: Read) -> Iterator[SchemaFault]:
    """What is wrong with the file at `path`, in the order in which it is found.

    Of what isn't YAML the first fault is told; and a source that can't be read hides faults of what
    is declared of it.
    """
    try:
        document = read_document(path)
    except SchemaFault as fault:
        yield fault
        return
    # Each copy names the same source, nearly always: its catalog is read once.
    copied, read = _Copy(deepcopy(document.data)), cache(read)
    for _ in range(_MAX_MENDED):
        try:
            schema_of(replace(document, data=copied.data), read=read)
        except SchemaFault as fault:
            if not copied.follows(fault.document_path):
                yield fault
            if not copied.mend(fault.document_path):
                return
        except SourceFault:
            return
        else:
            return


class _Copy:
    """A schema file's data, which is mended until it is none's fault any more."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self._mended: set[DocumentPath] = set()
        self._gone: set[str | int] = set()

    def follows(self, path: DocumentPath) -> bool:
        """Whether the fault at `path` may be one of the mending."""
        if path and path[-1] in self._gone:
            return True
        there = self._there(path)
        return any(there == mended[: len(there)] for mended in self._mended)

    def mend(self, path: DocumentPath) -> bool:
        """Change or take out what is at `path`; False where nothing is left to be done."""
        there = self._there(path)
        while there in self._mended and there:
            there = there[:-1]
        if not there:
            return False
        self._mended.add(there)
        match there:
            case ("budget", *_):
                self.data["budget"] = dict(_BUDGET)
                self._mended |= {("budget",), there}
            case ("tables", name) | ("tables", name, "unit", *_):
                self._own(name)
            case ("tables", name, "columns", column, "type", *_):
                self.data["tables"][name]["columns"][column] = {"type": "bigint"}
                self._mended.add(there[:4])
            case _:
                self._take_out(there)
        return True

    def _own(self, table: str | int) -> None:
        """Let the table be its unit's, or nobody's; at last let it be gone."""
        written = self.data["tables"][table]
        if ("tables", table) in self._mended or not isinstance(written, dict):
            self._take_out(("tables", table))
            return
        units = self.data.get("units")
        kinds = units.items() if isinstance(units, dict) else ()
        own = [k for k, unit in kinds if isinstance(unit, dict) and unit.get("table") == table]
        for name in ("unit", "public", "limits"):
            written.pop(name, None)
        written |= {"unit": own[0]} if own else {"public": True}

    def _take_out(self, there: DocumentPath) -> None:
        *above, last = there
        around = self.data
        for step in above:
            around = around[step]
        del around[last]
        if len(there) in {2, 4}:  # a table, a unit, a view, an analyst; a column
            self._gone.add(last)

    def _there(self, path: DocumentPath) -> DocumentPath:
        """As much of `path` as there is."""
        found = self.data
        for length, step in enumerate(path):
            match found, step:
                case dict(), _ if step in found:
                    found = found[step]
                case list(), int() if step < len(found):
                    found = found[step]
                case _:
                    return path[:length]
        return path
