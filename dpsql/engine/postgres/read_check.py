"""Can all that a schema declares of a server be read: its owner asks, before a query finds out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from dpsql.engine.postgres.access import check_source
from dpsql.engine.postgres.connection import ServerConnection, transaction
from dpsql.engine.postgres.pull import batches, pulled_columns, select_sql
from dpsql.engine.source import PostgresSource


class ServerReading:
    """One reading of all declared columns, of one version of the data; `interrupt` ends it."""

    def __init__(self, source: PostgresSource) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._server: ServerConnection | None = None

    def rows(self, step: Callable[[str], None] = lambda _: None) -> Mapping[str, int]:
        """How many rows each table has; what can't be read is a `SourceFault`."""
        with transaction(self._source) as server:
            with self._guard:
                self._server = server
            server.lock([table.location for table in self._source.tables])
            catalog = check_source(server, self._source.tables)
            counted: dict[str, int] = {}
            for table in self._source.tables:
                step(f"reading {table.name}")
                relation = catalog[table.location]
                columns = pulled_columns(table, relation, [name for name, _, _ in table.stored])
                with server.stream(select_sql(table, relation, columns)) as reader:
                    read = batches(server, reader, columns)
                    counted[table.name] = sum(batch.num_rows for batch in read)
            return counted

    def interrupt(self) -> None:
        """Stop what is read."""
        with self._guard:
            if self._server is not None:
                self._server.cancel()
