"""One synthetic database as an engine, for the very job that answers queries.

It stores the results of queries without a salt, which are always the same, so that an audit that
draws ten thousand answers computes their integers once. Noise is never stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa

from dpsql.audit.databases.database_batch import NO_TABLES, DatabaseBatch
from dpsql.engine.engine import Snapshot
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.errors import InternalError


class WorldEngine:
    """The database `world` of `worlds`, of which one at a time is loaded."""

    def __init__(self, worlds: DatabaseBatch, world: int) -> None:
        self._worlds, self._world = worlds, world
        self._known: dict[str, Raw] = {}

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,  # noqa: ARG002 - all its results are small
        limit: ReadLimit | None = None,  # noqa: ARG002
    ) -> Raw:
        """Run one SELECT; `tables` exist for this statement only."""
        if not parameters and sql in self._known:
            return self._known[sql]
        for name, table in tables.items():
            self._worlds.connection.register(name, table)
        self._worlds.load(self._world)
        relation = self._worlds.connection.sql(sql, params=list(parameters) or None)
        raw = Raw(relation.to_arrow_table())
        if not parameters:
            self._known[sql] = raw
        return raw

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """The database itself, which stays as it is."""
        return nullcontext(self)

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """The names and types of the declared columns."""
        declared = self._worlds.schema.tables[table].columns.values()
        return tuple((column.name, str(column.type)) for column in declared)

    def row_count_for_planning(self, table: str) -> int:  # noqa: ARG002 - of all tables
        """0: tables are so small that their size doesn't matter."""
        return 0

    @property
    def supports(self) -> None:
        """None: there is no server that computes."""

    def ping(self) -> None:
        """Do nothing: what is gone is noticed where it is opened."""

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """None: synthetic databases have no sidecar."""
        return frozenset()

    @property
    def holds_sidecar(self) -> bool:
        """True of the tables of a sidecar, of which there are none."""
        return True

    def fingerprint(self) -> str:
        """The number of the database."""
        return f"world {self._world}"

    def interrupt(self) -> None:
        """Stop the statement that is running."""
        self._worlds.connection.interrupt()

    def close(self) -> None:
        """Raise InternalError: an audit closes all its databases together."""
        raise InternalError("a database of an audit is closed with the others")
