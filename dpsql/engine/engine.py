"""The interface of an engine: it executes SQL statements and returns sealed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import pyarrow as pa
from msgspec import Struct
from sqlglot import exp

from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.supported import ServerParameter, ServerSelect, Supported
from dpsql.structs import not_shown


class Snapshot(Protocol):
    """One version of the data, which all statements run on it read."""

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = ...,
        *,
        as_rows: bool = ...,
        limit: ReadLimit | None = ...,
    ) -> Raw:
        """Run one SELECT; `tables` exist for this statement only; `as_rows`: it has few integers.

        More rows than `limit` raise `TooComplex` before they are in memory; only for public rows,
        since that error tells how many there are. Any other failure is `ExecutionFailed`, without
        the engine's message, which may quote rows.
        """


@runtime_checkable
class ServerRows(Protocol):
    """A snapshot of rows on a server that computes, too."""

    def computes(self, selects: Sequence[ServerSelect]) -> bool:
        """Whether the server computes each of `selects`; never a matter of rows."""

    def compute(self, select: ServerSelect, parameters: Sequence[ServerParameter]) -> Raw:
        """The rows of one of the SELECTs that `computes` was asked about; faults as `execute`'s."""


@runtime_checkable
class ServerChecks(Protocol):
    """An engine whose server computes an owner's checks: its private rows come to no other."""

    def check_rows(self, tree: exp.Expr) -> pa.Table:
        """The rows of a check: counts, and whether a key comes twice."""


@runtime_checkable
class PreparedOnServer(Protocol):
    """An engine whose server may have a sidecar."""

    def prepared_tables(self, sidecar: ServerSidecar) -> frozenset[str]:
        """The tables of `sidecar` that can be read now."""


IsCached = AbstractContextManager[bool]
"""While it is entered, whether a table can be read."""


@not_shown("parameters")
class CachedTable(Struct, frozen=True):
    """The one table `name` of the database `database`: the rows of a SELECT.

    They are those of `sql` for each of `parameters`, one below the other, which begin with a secret
    salt. The longest table that it reads has so many `rows`; 0 if nobody knows.
    """

    database: str
    name: str
    sql: str
    parameters: tuple[tuple[object, ...], ...]
    rows: int


@runtime_checkable
class CachesTables(Protocol):
    """An engine that reads one version of the data, and keeps what was found of it."""

    def caching(self, table: CachedTable, tables: Mapping[str, pa.Table]) -> IsCached:
        """While it is entered, whether `table` can be read; `tables` are those that its SQL reads.

        It is filled if it isn't there yet. False if it isn't worth the memory, or can't be filled:
        then the statement has to be run without it.
        """


@runtime_checkable
class LooksForRows(Protocol):
    """An engine that reads one version of the data, and keeps whether it has any rows."""

    def has_rows_for_planning(self, sql: str) -> bool:
        """Whether a SELECT has rows: private, and only used to choose a statement that is run.

        Faults are those of `execute`.
        """


class Engine(Snapshot, Protocol):
    """An engine over one version of one source; concurrent calls are safe."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """One version of the data, for several statements of one thread.

        A release's sums and counts are of the same rows: where rows come between two statements,
        the groups that one counts of a unit may be others than those that the other sums.
        """

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Names and types of a table's columns, in order, from the catalogue alone."""

    def row_count_for_planning(self, table: str) -> int:
        """The number of rows of a table: private, and only used to choose a physical plan.

        0 if only reading all rows would tell their number, or if reading fails.
        """

    @property
    def holds_sidecar(self) -> bool:
        """Whether the tables of `sidecar_tables` can be read until the engine is closed."""

    @property
    def supports(self) -> Supported | None:
        """What the source's own server computes: its snapshots are `ServerRows`. None: nothing."""

    def ping(self) -> None:
        """Raise `SourceFault` if the source is gone or has changed: it is asked before a charge."""

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """The tables whose rows, with their units, are in a sidecar that can be used."""

    def fingerprint(self) -> str:
        """Identifies the version of the data; a function of private rows, so only ever compared."""

    def interrupt(self) -> None:
        """Stop the statements that are running now; they end in `ExecutionFailed`."""

    def close(self) -> None:
        """Close the source; the engine runs nothing afterwards."""
