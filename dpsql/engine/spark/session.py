"""A session of Spark Connect: what runs in it, and what it says of tables.

A server's error has the statement and values of rows. What leaves this module is an error of ours,
made of none of it.
"""

from __future__ import annotations

import logging
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import pyarrow as pa

from dpsql.engine.source import SparkSource
from dpsql.engine.spark.connection import (
    SETTINGS,
    end_session,
    is_unreachable,
    opened_session,
)
from dpsql.errors import ExecutionCancelled, ExecutionFailed, SourceFault

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import StructType

Value = TypeVar("Value")

_LOG: Final = logging.getLogger("dpsql.engine")

STATEMENT_SECONDS: Final = 3600.0
"""After so long a statement is interrupted."""

WRITE_SECONDS: Final = 24 * 3600.0
"""After so long what an owner has written is interrupted."""

_AGAIN_SECONDS: Final = 1.0
"""An interrupt is sent again while a statement runs: what hasn't begun there isn't interrupted."""


_FACTS: Final = ("path", "UNIX_MICROS(modificationTime)", "length")

_AT_ONCE: Final = 8
"""Files of which the ends are read at once: each is a job that takes a tenth of a second."""


class Relation(NamedTuple):
    """A table: the path of Parquet files, or its quoted name in the catalog."""

    name: str
    is_path: bool


class FileFacts(NamedTuple):
    """A file: its path, when it was written, and how long it is."""

    path: str
    written: int
    length: int


class SparkServerSession:
    """One session; its statements run one by one, and `interrupt` is for other threads."""

    def __init__(self, source: SparkSource) -> None:
        self._name = str(source)
        self._session = opened_session(source)
        # At the interpreter's end: one that is open then, pyspark would wait for without end.
        self._end = weakref.finalize(self, end_session, self._session)
        self._idle = threading.Event()
        self._idle.set()
        self._interrupted = False
        self._is_gone = False
        self._location: tuple[str, str] | None = None
        self._schemas: dict[Relation, StructType] = {}
        self.ping()

    def rows(self, sql: str, parameters: Mapping[str, str] = MappingProxyType({})) -> pa.Table:
        """The rows of a SELECT.

        ExecutionCancelled if it was interrupted, `SourceFault` if the server is gone or took too
        long; ExecutionFailed otherwise, whatever it says.
        """
        return self._do(lambda session: session.sql(sql, dict(parameters) or None).toArrow())

    def run(self, command: str) -> None:
        """Do what an owner has it write; faults are those of `rows`."""
        self._do(lambda session: session.sql(command).toArrow(), WRITE_SECONDS)

    def view(self, name: str, rows: pa.Table) -> None:
        """Let `name` mean `rows` in this session; of no rows, pyspark sends no table."""

        def create(session: SparkSession) -> None:
            some = rows if rows.num_rows else _one_row(rows.schema)
            frame = session.createDataFrame(some)
            own = frame if rows.num_rows else frame.limit(0)
            own.createOrReplaceTempView(f"`{name.replace('`', '``')}`")

        self._do(create)

    def define(self, name: str, at: Relation, items: Sequence[str]) -> None:
        """Let `name` mean `items` of a table, of files and versions as they are now.

        A file's columns are those that `schema` told last.
        """
        quoted = f"`{name.replace('`', '``')}`"

        def create(session: SparkSession) -> None:
            if not at.is_path:
                # The session may know its files of long ago.
                session.catalog.refreshTable(at.name)
            frame = _frame(session, at, self._schemas.pop(at, None))
            frame.selectExpr(*items).createOrReplaceTempView(quoted)

        self._do(create)

    def files(self, view: str) -> frozenset[FileFacts]:
        """The files that `view` reads; of some tables none are told."""
        quoted = f"`{view.replace('`', '``')}`"
        return self._do(lambda session: _files(session, session.table(quoted)))

    def files_of(self, at: Relation) -> frozenset[FileFacts]:
        """The files that a table has now; SourceFault if it isn't there."""
        return self.ask(lambda session: _files(session, _frame(session, at, self._schemas.get(at))))

    def ends(self, paths: Sequence[str], lines: int) -> list[list[bytes]]:
        """The bytes of each file that follow the last newlines, but for so many `lines`."""

        def read(session: SparkSession) -> list[list[bytes]]:
            reader = session.read.option("lineSep", "\n")

            def end(path: str) -> list[bytes]:
                last = reader.text(path).selectExpr("CAST(value AS BINARY) AS line").tail(lines)
                return [bytes(row["line"]) for row in last]

            with ThreadPoolExecutor(_AT_ONCE) as pool:
                return list(pool.map(end, paths))

        return self.ask(read)

    def schema(self, at: Relation) -> list[tuple[str, str]]:
        """Names and Spark's types of a table's columns; SourceFault if it isn't there."""

        def read(session: SparkSession) -> list[tuple[str, str]]:
            schema = _frame(session, at).schema
            if at.is_path:
                self._schemas[at] = schema
            return [(field.name, str(field.dataType.simpleString())) for field in schema]

        return self.ask(read)

    def ping(self) -> None:
        """Raise `SourceFault` if the session isn't there any more, as it was set."""
        settings = self.ask(lambda session: dict(session.conf.getAll))
        for name, value in SETTINGS.items():
            if settings.get(name) != value:
                raise SourceFault(f"{self._name} doesn't keep {name} at {value}")

    def set(self, name: str, value: str) -> None:
        """Change a setting that isn't pinned."""
        self.ask(lambda session: session.conf.set(name, value))

    def setting(self, name: str) -> str | None:
        """What a setting is."""
        return self.ask(lambda session: session.conf.get(name))

    @property
    def is_interrupted(self) -> bool:
        """Whether nothing runs in it any more."""
        return self._interrupted

    def described(self, table: str) -> list[tuple[str, str]]:
        """What the catalog says of a table: its columns with their types, and then its facts."""
        return self.pairs(f"DESCRIBE TABLE EXTENDED {table}")

    def pairs(self, sql: str) -> list[tuple[str, str]]:
        """The first two columns of a catalog's answer, as texts; `SourceFault` if it fails."""
        rows = self.ask(lambda session: session.sql(sql).toArrow())
        return list(
            zip(*(map(str, column.to_pylist()) for column in rows.columns[:2]), strict=True)
        )

    def tables(self) -> list[str]:
        """The names of the tables of the catalog's current database, without views."""
        return self.ask(
            lambda session: [
                table.name
                for table in session.catalog.listTables()
                if table.tableType in ("MANAGED", "EXTERNAL")
            ]
        )

    def location(self) -> tuple[str, str]:
        """The catalog and the database that unqualified names are of."""
        if self._location is None:
            self._location = self.ask(
                lambda session: (
                    session.catalog.currentCatalog(),
                    session.catalog.currentDatabase(),
                )
            )
        return self._location

    def interrupt(self) -> None:
        """Stop what runs on the server in this session, and all that would come after it."""
        if not self._interrupted:
            self._interrupted = True
            threading.Thread(target=self._stop, daemon=True).start()

    def _stop(self) -> None:
        while not self._idle.is_set():
            # Of a server that is gone, nothing runs.
            with suppress(Exception):
                self._session.interruptAll()
            self._idle.wait(_AGAIN_SECONDS)

    def close(self) -> None:
        """End the session, and forget its views."""
        if self._is_gone:
            # Nobody is there to be told of it.
            self._session.release_session_on_close = False
        self._end()

    def ask(self, work: Callable[[SparkSession], Value]) -> Value:
        """What `work` gives; what fails is a `SourceFault` that says nothing of why."""
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work(self._session)
        raise SourceFault(
            f"{self._name} doesn't answer as it should",
            hint="see that its tables are there, and what its own log says",
        )

    def _do(
        self, work: Callable[[SparkSession], Value], seconds: float = STATEMENT_SECONDS
    ) -> Value:
        timer = threading.Timer(seconds, self.interrupt)
        timer.daemon = True
        kind = "nothing"
        is_gone = False
        self._idle.clear()
        timer.start()
        try:
            self._check_interrupted()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = work(self._session)
            self._check_interrupted()
        except Exception as error:  # noqa: BLE001 - every reason is made of rows
            kind = type(error).__name__
            is_gone = is_unreachable(error)
        else:
            return value
        finally:
            timer.cancel()
            self._idle.set()
        # Out here no exception chain leads back to what the server says.
        self._check_interrupted()
        _LOG.warning("Spark failed: %s", kind)
        if is_gone:
            self._is_gone = True
            raise SourceFault(f"{self._name} can't be reached any more", hint="ask again")
        raise ExecutionFailed

    def _check_interrupted(self) -> None:
        if self._interrupted:
            raise ExecutionCancelled


def _frame(session: SparkSession, at: Relation, schema: StructType | None = None) -> DataFrame:
    """A table; of files without a `schema`, a job reads the ends to find it."""
    if not at.is_path:
        return session.table(at.name)
    reader = session.read if schema is None else session.read.schema(schema)
    return reader.parquet(at.name)


def _files(session: SparkSession, frame: DataFrame) -> frozenset[FileFacts]:
    # Its list has addresses, and its reader takes paths.
    paths = [unquote(path) for path in frame.inputFiles()]
    if not paths:
        return frozenset()
    # Of none of them is the content read.
    facts = session.read.format("binaryFile").load(paths).selectExpr(*_FACTS).toArrow()
    return frozenset(map(FileFacts, *(column.to_pylist() for column in facts.columns)))


def _one_row(schema: pa.Schema) -> pa.Table:
    return pa.table([pa.nulls(1, field.type) for field in schema], schema=schema)
