"""An engine that hands every call to another one: what a test changes, it overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa

from dpsql.audit.databases.database_batch import NO_TABLES
from dpsql.engine.engine import Engine, LooksForRows, Snapshot
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.supported import Supported


class Relay:
    """All members of `Engine`, answered by `engine`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        return self.engine.execute(sql, parameters, tables, as_rows=as_rows, limit=limit)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return nullcontext(self)

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        return self.engine.columns(table)

    def row_count_for_planning(self, table: str) -> int:
        return self.engine.row_count_for_planning(table)

    def has_rows_for_planning(self, sql: str) -> bool:
        """True of an engine that doesn't look: then it runs what holds for any rows."""
        return not isinstance(self.engine, LooksForRows) or self.engine.has_rows_for_planning(sql)

    @property
    def supports(self) -> Supported | None:
        return self.engine.supports

    def ping(self) -> None:
        self.engine.ping()

    @property
    def sidecar_tables(self) -> frozenset[str]:
        return self.engine.sidecar_tables

    @property
    def holds_sidecar(self) -> bool:
        return self.engine.holds_sidecar

    def fingerprint(self) -> str:
        return self.engine.fingerprint()

    def interrupt(self) -> None:
        self.engine.interrupt()

    def close(self) -> None:
        self.engine.close()


class Remembering(Relay):
    """Runs each statement twice and then answers in turn: only the noise is new."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.seen: dict[str, list[Raw]] = {}
        self.asked = 0

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        found = self.seen.setdefault(sql, [])
        if len(found) < 2:
            raw = super().execute(sql, parameters, tables, as_rows=as_rows, limit=limit)
            found.append(raw)
        self.asked += 1
        return found[self.asked % len(found)]
