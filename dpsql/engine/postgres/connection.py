"""One connection to a server: its settings, its one transaction, its failures.

The driver is ADBC's, which streams COPY in binary as Arrow. What it or the server says of a failure
may quote rows, so that no message is made of it; a password is in none of ours.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

import pyarrow as pa

from dpsql.engine.connection_string import with_settings
from dpsql.engine.source import PostgresSource
from dpsql.engine.supported import ServerParameter
from dpsql.errors import ExecutionCancelled, SourceFault, SourceLocked
from dpsql.installed_extra import install_extra

Outcome = TypeVar("Outcome")

LONGEST_NAME: Final = 63
"""The bytes of a name on a server: a longer one is cut off, so that two could be one."""

LOCK_SECONDS: Final = 5
"""How long a table is waited for that another session has locked."""

_SETTINGS: Final = {
    # No name is looked up where others may create; what is temporary is looked up last.
    "search_path": "pg_catalog, pg_temp",
    "default_transaction_read_only": "on",
    # A policy that would leave rows out is an error.
    "row_security": "off",
    "statement_timeout": "1h",
    "lock_timeout": f"{LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": "10min",
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "transform_null_equals": "off",
    # It takes longer to compile what is pushed down than that saves.
    "jit": "off",
    "application_name": "dpsql source",
}
_MEMORY: Final = (
    "set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, 131072)"
    "::text || 'kB', false)"
)
"""Units and groups that are sought in a table of 4 MB, the default, take four times as long."""

_LOCK_NOT_AVAILABLE: Final = "55P03"

_TIMEOUTS: Final = {
    "connect_timeout": "10",
    # Of a server that is cut off, the end of a connection never comes: by default, after two hours.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL, where strings are standard conforming."""
    return "'" + text.replace("'", "''") + "'"


class ServerConnection:
    """A connection, and the READ ONLY REPEATABLE READ transaction between `begin` and `end`.

    One thread uses it; `cancel` is for others. Whatever fails is a `SourceFault`. `is_proved` is
    what was found of the server's semantics, None before they were tested.
    """

    is_proved: bool | None = None

    def __init__(self, source: PostgresSource) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._running: Any = None
        self._cancelled = False
        self._connection = self._attempt(
            lambda: _connect(source), "can't be reached", "check server, network, user and password"
        )
        try:
            settings = (f"set_config('{name}', '{to}', false)" for name, to in _SETTINGS.items())
            self.rows(f"SELECT {', '.join(settings)}, {_MEMORY}")
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """Begin a transaction; its first SELECT says of which version of the data it is."""
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def end(self) -> bool:
        """End the transaction; False where the connection is of no use afterwards."""
        if self._cancelled:
            return False
        with suppress(SourceFault, ExecutionCancelled):
            self.run("ROLLBACK")
            return True
        return False

    def lock(self, tables: Sequence[tuple[str, str]]) -> None:
        """Keep tables, by schema and name, from being dropped, renamed or rewritten.

        The first lock comes before the snapshot, so that what it shows is of these tables.
        """
        names = ", ".join(f"{quoted(space)}.{quoted(name)}" for space, name in tables)
        self.run(f"LOCK TABLE {names} IN ACCESS SHARE MODE")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The few rows of one of our own SELECTs."""
        with self.stream(sql) as reader:
            table = self._attempt(reader.read_all)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    @contextmanager
    def stream(self, sql: str) -> Iterator[pa.RecordBatchReader]:
        """The rows of one of our own SELECTs as they come; read within `batches`."""
        with self._cursor() as cursor:
            self._attempt(lambda: cursor.execute(sql))
            yield self._attempt(cursor.fetch_record_batch)

    def batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        """What `reader` has, batch by batch."""

        def following() -> pa.RecordBatch | None:
            try:
                return reader.read_next_batch()
            except StopIteration:
                return None

        while (batch := self._attempt(following)) is not None:
            yield batch

    def computed(self, sql: str, parameters: Sequence[ServerParameter]) -> pa.Table:
        """The rows of one of our own SELECTs, whose parameters are texts and arrays of texts."""
        arrays = [
            pa.array([parameter], pa.string())
            if isinstance(parameter, str)
            else pa.array([list(parameter)], pa.list_(pa.string()))
            for parameter in parameters
        ]
        names = [f"p{number}" for number in range(len(arrays))]
        bound = pa.record_batch(arrays, names) if arrays else None
        with self._cursor() as cursor:
            self._attempt(lambda: cursor.execute(sql, bound))
            return self._attempt(cursor.fetch_arrow_table)

    def run(self, sql: str) -> None:
        """Run a command of ours that has no rows."""
        with self._cursor() as cursor:
            self._attempt(lambda: cursor.execute(sql))

    def cancel(self) -> None:
        """Stop the statement that runs, and all that would come after it."""
        with self._guard:
            self._cancelled = True
            if self._running is not None:
                with suppress(Exception):
                    self._running.adbc_cancel()

    def close(self) -> None:
        """End the connection, and the transaction with it."""
        with suppress(Exception):
            self._connection.close()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        cursor = self._attempt(self._connection.cursor)
        try:
            with self._guard:
                if self._cancelled:
                    raise ExecutionCancelled
                self._running = cursor
            yield cursor
        finally:
            with self._guard:
                self._running = None
            with suppress(Exception):
                cursor.close()

    def _attempt(
        self,
        work: Callable[[], Outcome],
        what: str = "ended a statement",
        fix: str = "ask again, or see the server's log",
    ) -> Outcome:
        """Do `work`, all of whose failures are faults of the source that say no more of them."""
        fault: SourceFault | ExecutionCancelled
        try:
            return work()
        except (SourceFault, ExecutionCancelled):
            raise
        except Exception as error:  # noqa: BLE001 - the driver's, Arrow's and the system's
            if self._cancelled:
                fault = ExecutionCancelled()
            elif getattr(error, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
                fault = SourceLocked(
                    f"a table of {self._source} is locked by another session, for more than"
                    f" {LOCK_SECONDS} s",
                    hint="ask again when its change of the table has ended",
                )
            else:
                fault = SourceFault(f"{self._source} {what}", hint=fix)
        # Out here no exception chain leads back to what the server said.
        raise fault


@contextmanager
def transaction(source: PostgresSource) -> Iterator[ServerConnection]:
    """A connection of its own, in a transaction."""
    server = ServerConnection(source)
    try:
        server.begin()
        yield server
    finally:
        server.close()


class IdleConnection:
    """One connection that is kept from one snapshot to the next.

    Making one takes longer than most statements do, since the driver reads the server's types.
    """

    def __init__(self, source: PostgresSource) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._idle: ServerConnection | None = None
        self._open = True

    def take(self) -> ServerConnection:
        """A connection in a new transaction; a new one where that which was kept is gone."""
        with self._guard:
            server, self._idle = self._idle, None
        if server is not None:
            with suppress(SourceFault):
                server.begin()
                return server
            server.close()
        server = ServerConnection(self._source)
        server.begin()
        return server

    def give_back(self, server: ServerConnection) -> None:
        """End its transaction, and keep it if none is kept."""
        if server.end():
            with self._guard:
                if self._open and self._idle is None:
                    self._idle = server
                    return
        server.close()

    def close(self) -> None:
        """Keep none any more."""
        with self._guard:
            server, self._idle, self._open = self._idle, None, False
        if server is not None:
            server.close()


def _connect(source: PostgresSource) -> Any:
    try:
        from adbc_driver_postgresql import dbapi  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise SourceFault(
            f"{source} needs the driver adbc-driver-postgresql",
            hint=f"install it: {install_extra('postgres')}",
        ) from None
    return dbapi.connect(with_settings(source.url, _TIMEOUTS), autocommit=True)
