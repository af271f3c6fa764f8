"""Rows of public tables that answers are finished with, kept for the next statement that asks.

What stands above the releases is computed where nothing private is, so that public tables are
copied there. Many statements join the same rows, and where a table is large, to read it takes
longer than to release what it is joined with.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from dpsql.engine.fingerprint import Identity

MAX_BYTES: Final = 128 * 2**20
"""What all copies hold together."""


class FinishingCopies:
    """Public rows by the SQL that reads them, of one version of the files that have them.

    Rows of a server change under a version that its owner states: they are read each time.
    """

    def __init__(self, size: int = MAX_BYTES) -> None:
        self._size = size
        self._guard = threading.Lock()
        self._files: Identity = ()
        self._copies: OrderedDict[str, pa.Table] = OrderedDict()

    def rows(
        self, sql: str, files: Callable[[], Identity], read: Callable[[], pa.Table]
    ) -> pa.Table:
        """The rows of `sql`, which `read` reads of `files` as they are now."""
        before = files()
        if not before:
            return read()
        with self._guard:
            known = self._copies.get(sql) if before == self._files else None
            if known is not None:
                self._copies.move_to_end(sql)
                return known
        rows = read()
        if files() == before:
            self._remember(sql, before, rows)
        return rows

    def _remember(self, sql: str, files: Identity, rows: pa.Table) -> None:
        if rows.nbytes > self._size:
            return
        with self._guard:
            if files != self._files:
                self._files = files
                self._copies.clear()
            self._copies[sql] = rows
            while sum(int(one.nbytes) for one in self._copies.values()) > self._size:
                self._copies.popitem(last=False)
