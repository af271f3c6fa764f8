"""Can all that a schema declares of Spark be read: its owner asks, before a query finds out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsql.engine.source import SparkSource
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.tables import columns_of, quoted, relation, view_items


class SparkReading:
    """One reading of all declared columns; `interrupt` ends it."""

    def __init__(self, source: SparkSource) -> None:
        self._source = source
        self._session: SparkServerSession | None = None

    def rows(self, step: Callable[[str], None] = lambda _: None) -> Mapping[str, int]:
        """How many rows each table has; what can't be read is a `SourceFault`."""
        self._session = session = SparkServerSession(self._source)
        counted: dict[str, int] = {}
        try:
            for table in self._source.tables:
                step(f"reading {table.name}")
                offered = columns_of(session, self._source, table)
                at = relation(session, self._source, table.name)
                session.define(table.name, at, view_items(table, dict(offered)))
                hashes = ", ".join(quoted(name) for name, _ in table.columns or ()) or "1"
                # The hash reads all columns, and neither does it tell nor is it of any use.
                sql = f"SELECT COUNT(*), MAX(XXHASH64({hashes})) FROM {quoted(table.name)}"  # noqa: S608
                counted[table.name] = int(session.rows(sql).column(0)[0].as_py())
        finally:
            session.close()
        return counted

    def interrupt(self) -> None:
        """Stop what is read."""
        if self._session is not None:
            self._session.interrupt()
