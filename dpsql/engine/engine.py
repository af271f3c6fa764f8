"""What any engine offers to the layers above: statements in, sealed rows out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import pyarrow as pa

from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit


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
        """Run one SELECT; `tables` exist for this statement only; `as_rows`: few integers come out.

        More than `limit` is `TooComplex`, before it is in memory: only of public rows, since it
        tells how many there are. Whatever else fails is `ExecutionFailed`: what an engine says
        about a failure is made of rows.
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
        """How many rows a table has: private, and only to choose how a statement is run.

        0 where nothing but reading all of them would tell, or reading fails.
        """

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """The tables whose rows stand ready with their unit, in a sidecar."""

    def fingerprint(self) -> str:
        """Which version of the data is read; a function of private rows, only ever compared."""

    def interrupt(self) -> None:
        """Stop the statements that are running now; they end in `ExecutionFailed`."""

    def close(self) -> None:
        """Let go of the source; the engine runs nothing afterwards."""
