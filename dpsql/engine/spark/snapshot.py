"""One session on Spark for all statements of a release.

Each declared table is a view in it, of files as they were listed when it was first read. A
statement that reads a table twice fails if the files are others by then. Rows of public tables are
taken into DuckDB, where what stands above releases is computed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Final

import duckdb
import pyarrow as pa
from sqlglot import exp

from dpsql.engine.computed_rows import COMPUTED, typed_rows_sql
from dpsql.engine.digest import Digest
from dpsql.engine.duckdb.statement import refuse_shadows, run_and_forget, sealed_rows
from dpsql.engine.needed_columns import needed_columns
from dpsql.engine.raw import Raw, Rows
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import SparkSource
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.sidecar.reading import define_stored
from dpsql.engine.spark.sidecar.record import files_digest
from dpsql.engine.spark.tables import check_view, columns_of, quoted, relation, view_items
from dpsql.engine.supported import ServerParameter, ServerSelect, prepared_name
from dpsql.errors import ExecutionCancelled, ExecutionFailed, ExecutionStopped, InternalError

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})
_LOG: Final = logging.getLogger("dpsql.engine")

_MAX_TAKEN: Final = 10_000_000
"""Rows of a public table that are taken into DuckDB at most."""


class SparkSnapshot:
    """Runs the statements of one thread; `interrupt` is for others, and ends all of them."""

    def __init__(
        self,
        source: SparkSource,
        cursor: duckdb.DuckDBPyConnection,
        session: SparkServerSession,
        parsed: Callable[[str], duckdb.Statement],
    ) -> None:
        self._source = source
        self._cursor = cursor
        self._session = session
        self._parsed = parsed
        self._declared = frozenset(table.name.casefold() for table in source.tables)
        self._views: set[str] = set()
        self._stored: dict[str, Digest] = {}
        self._taken: dict[str, frozenset[str]] = {}
        self._guard = threading.Lock()
        self._interrupted = False

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = _NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        """Run one SELECT in DuckDB, of rows of public tables that are taken from Spark.

        Releases aren't executed so: what Spark doesn't compute is refused when it is planned.
        """
        refuse_shadows(tables, self._declared)
        for name, columns in needed_columns(sql, self._source.tables).items():
            self._take(name, columns)
        raw = sealed_rows(lambda: self._run(sql, parameters, tables, as_rows=as_rows, limit=limit))
        self._check_interrupted()
        return raw

    def computes(self, selects: Sequence[ServerSelect]) -> bool:
        """Whether Spark computes each of `selects`: it does all that is emitted for it.

        But not over prepared rows that aren't what was written.
        """
        for select in selects:
            for table in select.tables:
                self._define(table)
        return all(self._is_stored(select) for select in selects)

    def compute(self, select: ServerSelect, parameters: Sequence[ServerParameter]) -> Raw:
        """The rows of `select` on this version of the data, as Spark computes them."""
        texts: dict[str, str] = {}
        for number, parameter in enumerate(parameters, 1):
            if isinstance(parameter, str):
                texts[f"p{number}"] = parameter
            elif isinstance(parameter, pa.Table):
                self._session.view(f"parameter {number}", parameter)
            else:
                raise ExecutionFailed
        for table in select.tables:
            self._define(table)
        stored = {prepared_name(table) for table in select.prepared}
        if not stored <= self._stored.keys():
            raise InternalError("Spark wasn't asked whether it can read what is prepared")
        twice = [table for table in select.tables if _may_read_twice(select.sql, table)]
        files = {table: self._session.files(table) for table in twice}
        rows = self._session.rows(select.sql, texts)
        for table in twice:
            if self._session.files(table) != files[table]:
                # A unit may have been counted by two versions of it.
                _LOG.warning("%s has other files than when its release began", table)
                raise ExecutionFailed
        for view in stored:
            if files_digest(self._session, view) != self._stored[view]:
                _LOG.warning("%s isn't what was written any more", view)
                raise ExecutionFailed
        tables = {COMPUTED: rows.rename_columns([name for name, _ in select.columns])}
        raw = sealed_rows(
            lambda: self._run(typed_rows_sql(select), (), tables, as_rows=False, limit=None)
        )
        self._check_interrupted()
        return raw

    def check_rows(self, tree: exp.Expr) -> pa.Table:
        """The rows of an owner's check, which Spark computes: counts, and keys that come twice."""
        for table in {table.name for table in tree.find_all(exp.Table)}:
            if table.casefold() in self._declared:
                self._define(table)
        return self._session.rows(tree.sql("spark"))

    def interrupt(self) -> None:
        """Stop what runs here and on the server, and all that would come after it."""
        with self._guard:
            self._interrupted = True
            self._cursor.interrupt()
        self._session.interrupt()

    def close(self) -> None:
        """Forget what was taken."""
        self._cursor.close()

    def _define(self, name: str) -> None:
        """A table is a view in the session, checked against what the source has now."""
        if name in self._views:
            return
        table = next(table for table in self._source.tables if table.name == name)
        offered = columns_of(self._session, self._source, table)
        at = relation(self._session, self._source, name)
        self._session.define(name, at, view_items(table, dict(offered)))
        check_view(self._session, self._source, table)
        self._views.add(name)

    def _is_stored(self, select: ServerSelect) -> bool:
        """Whether the prepared rows that `select` reads are what was written; views of them."""
        if select.sidecar is None:
            return not select.prepared
        lacking = {n for n in select.prepared if prepared_name(n) not in self._stored}
        tables = [table for table in self._source.tables if table.name in lacking]
        stored = define_stored(self._session, select.sidecar, tables) if tables else {}
        if stored is None or len(tables) < len(lacking):
            return False
        self._stored |= stored
        return True

    def _take(self, name: str, columns: Sequence[str]) -> None:
        needed = self._taken.get(name, frozenset()) | {*columns}
        if name in self._taken and needed <= self._taken[name]:
            return
        self._define(name)
        table = next(table for table in self._source.tables if table.name == name)
        read = [(own, kind) for own, kind in table.columns or () if own in needed]
        items = ", ".join(quoted(own) for own, _ in read) or "1 AS `nothing`"
        sql = f"SELECT {items} FROM {quoted(name)} LIMIT {_MAX_TAKEN + 1}"  # noqa: S608
        rows = self._session.rows(sql)
        if rows.num_rows > _MAX_TAKEN:
            _LOG.warning(
                "%s has more than %s rows, and can't be taken from Spark", name, _MAX_TAKEN
            )
            raise ExecutionStopped
        self._keep(name, rows, read)
        self._taken[name] = frozenset(own for own, _ in read)

    def _keep(self, name: str, rows: pa.Table, read: Sequence[tuple[str, str]]) -> None:
        items = ", ".join(
            f"CAST({quoted_here(own)} AS {kind}) AS {quoted_here(own)}" for own, kind in read
        )
        into = f"CREATE OR REPLACE TEMP TABLE {quoted_here(name)} AS"
        failed = True
        with suppress(Exception):
            self._cursor.register(COMPUTED, rows)
            self._cursor.execute(f"{into} SELECT {items or 'nothing'} FROM {quoted_here(COMPUTED)}")  # noqa: S608
            self._cursor.unregister(COMPUTED)
            failed = False
        self._check_interrupted()
        if failed:
            raise ExecutionFailed

    def _check_interrupted(self) -> None:
        if self._interrupted:
            raise ExecutionCancelled

    def _run(
        self,
        sql: str,
        parameters: Sequence[object],
        tables: Mapping[str, pa.Table],
        *,
        as_rows: bool,
        limit: ReadLimit | None,
    ) -> Rows:
        return run_and_forget(
            self._cursor, self._parsed(sql), parameters, tables, as_rows=as_rows, limit=limit
        )


def _may_read_twice(sql: str, table: str) -> bool:
    """Whether a statement reads a table twice: by its name, or by a table of its WITH."""
    return "WITH " in sql or sql.count(quoted(table)) > 1


def quoted_here(name: str) -> str:
    """A name as DuckDB's SQL has it."""
    return '"' + name.replace('"', '""') + '"'
