"""Tables that an engine keeps in memory, each in a database of its own, compressed.

They are filled from private rows by SQL of ours alone, no statement of another sort can name them,
and they are gone with the engine, which reads one version of the data.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final, final

import duckdb
import pyarrow as pa
from msgspec import Struct
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted, single_select
from dpsql.engine.engine import CachedTable
from dpsql.errors import ExecutionCancelled

_MAX_TABLES: Final = 4
"""Of more, the one that wasn't used for the longest time is let go of."""

_MAX_ROWS: Final = 8_000_000
"""Of more rows, no table is made: filling one takes up to 60 bytes for each of them."""

_MEMORY_PER_ROW: Final = 2**10
"""An engine has to have so many bytes for each row: what it keeps takes a small part of them."""

_BYTES: Final[Mapping[str, int]] = {
    "bytes": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}


class _Contents(Struct, frozen=True):
    """What a table was filled from."""

    table: CachedTable
    read: Mapping[str, pa.Table]

    def is_of(self, table: CachedTable, read: Mapping[str, pa.Table]) -> bool:
        """Whether it is filled from the same, however many rows are taken to be read."""
        return (
            (self.table.sql, self.table.parameters) == (table.sql, table.parameters)
            and self.read.keys() == read.keys()
            and all(rows.equals(read[name]) for name, rows in self.read.items())
        )


@final
class TableCache:
    """The tables that one engine keeps; `cursors` are of its connection, and can be interrupted.

    One thread uses them at a time: others wait for what they are about to ask for themselves.
    """

    def __init__(
        self, cursors: Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]]
    ) -> None:
        self._cursors = cursors
        self._lock = threading.RLock()
        self._contents: dict[str, _Contents] = {}
        """By their databases, the one that wasn't used for the longest time first."""
        self._in_use: str | None = None

    @contextmanager
    def caching(self, table: CachedTable, read: Mapping[str, pa.Table]) -> Iterator[bool]:
        """While it is entered, whether `table` is there; it is filled if there is room for it."""
        with self._lock:
            self._in_use = table.database
            try:
                yield self._is_there(table, read)
            finally:
                self._in_use = None

    def retrying(self, read: Callable[[], pa.Table]) -> pa.Table:
        """What `read` returns: where it wants for memory, once more without what is kept."""
        try:
            return read()
        except duckdb.OutOfMemoryException:
            if not self.forget():
                raise
        return read()

    def forget(self) -> bool:
        """Whether something was kept that could be let go of, since memory is wanted."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            unused = [name for name in self._contents if name != self._in_use]
            for name in unused:
                self._drop(name)
            return bool(unused)
        finally:
            self._lock.release()

    def _is_there(self, table: CachedTable, read: Mapping[str, pa.Table]) -> bool:
        known = self._contents.pop(table.database, None)
        if known is not None and known.is_of(table, read):
            self._contents[table.database] = known
            return True
        self._drop(table.database)
        if not self._has_room(table.rows):
            return False
        while len(self._contents) >= _MAX_TABLES:
            self._drop(next(iter(self._contents)))
        is_filled = is_cancelled = False
        # Outside of it, no exception chain leads back to DuckDB's message, which may quote rows.
        try:
            self._fill(table, read)
            is_filled = True
        except duckdb.InterruptException:
            is_cancelled = True
        except (duckdb.Error, MemoryError):  # the statement may do without it
            pass
        if is_filled:
            self._contents[table.database] = _Contents(table, read)
        else:
            self._drop(table.database)
        if is_cancelled:
            raise ExecutionCancelled
        return is_filled

    def _has_room(self, rows: int) -> bool:
        """Whether so many rows are few enough; of a file whose rows nobody counted none are."""
        with self._cursors() as cursor:
            ((limit,),) = cursor.execute("SELECT current_setting('memory_limit')").fetchall()
        number, unit = str(limit).split()
        affordable = float(number) * _BYTES.get(unit, 0) / _MEMORY_PER_ROW
        return 0 < rows <= min(_MAX_ROWS, affordable)

    def _fill(self, table: CachedTable, read: Mapping[str, pa.Table]) -> None:
        database = quoted(table.database)
        target = exp.table_(table.name, db=table.database, quoted=True).sql("duckdb")
        with self._cursors() as cursor:
            single_select(cursor, table.sql)
            for name, rows in read.items():
                cursor.register(name, rows)
            cursor.execute(f"ATTACH ':memory:' AS {database} (COMPRESS)")
            for number, parameters in enumerate(table.parameters):
                into = f"INSERT INTO {target}" if number else f"CREATE TABLE {target} AS"
                cursor.execute(f"{into} {table.sql}", list(parameters))
                cursor.execute(f"CHECKPOINT {database}")  # which compresses

    def _drop(self, database: str) -> None:
        self._contents.pop(database, None)
        with suppress(duckdb.Error), self._cursors() as cursor:
            cursor.execute(f"DETACH DATABASE IF EXISTS {quoted(database)}")
