"""A session of Spark Connect: its settings are pinned, and what the server says stays in here.

A server's error has the statement and values of rows. pyspark writes it to the client's stderr by
loggers of its own, which are silenced; what leaves this module is an error of ours, made of none of
it.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import pyarrow as pa

from dpsql.engine.spark.address import read_address, shown_address
from dpsql.errors import ExecutionCancelled, ExecutionFailed, SourceFault

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.connect.session import SparkSession

Value = TypeVar("Value")

_LOG: Final = logging.getLogger("dpsql.engine")

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        # Products of decimals keep all digits after the point: those that are too long are NULL.
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.caseSensitive": "true",
        # '\u0024' is a dollar sign, and '${x}' is four characters.
        "spark.sql.parser.escapedStringLiterals": "false",
        "spark.sql.variable.substitute": "false",
        "spark.sql.ansi.doubleQuotedIdentifiers": "false",
        # Names are those of columns, and no numbers of items nor aliases beside them.
        "spark.sql.groupByOrdinal": "false",
        "spark.sql.orderByOrdinal": "false",
        "spark.sql.groupByAliases": "false",
        "spark.sql.lateralColumnAlias.enableImplicitResolution": "false",
    }
)
"""What a session has to be set to; a server's own settings may be others."""

STATEMENT_SECONDS: Final = 3600.0
"""After so long a statement is interrupted."""

_LOUD: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""pyspark's loggers of what the server says."""


class Relation(NamedTuple):
    """A table: the path of Parquet files, or its quoted name in the catalog."""

    name: str
    is_path: bool


class SparkServerSession:
    """One session; its statements run one by one, and `interrupt` is for other threads."""

    def __init__(self, url: str) -> None:
        self._name = shown_address(url)
        self._session = _opened(url, self._name)
        self._guard = threading.Lock()
        self._interrupted = False
        self._location: tuple[str, str] | None = None
        settings = self._of_source(lambda session: dict(session.conf.getAll))
        for name, value in SETTINGS.items():
            if settings.get(name) != value:
                raise SourceFault(f"{self._name} doesn't keep {name} at {value}")

    def rows(self, sql: str, parameters: Mapping[str, str] = MappingProxyType({})) -> pa.Table:
        """The rows of a SELECT.

        ExecutionCancelled if it was interrupted, `SourceFault` if the server is gone or took too
        long; ExecutionFailed otherwise, whatever it says.
        """
        return self._do(lambda session: session.sql(sql, dict(parameters) or None).toArrow())

    def view(self, name: str, rows: pa.Table) -> None:
        """Let `name` mean `rows` in this session; of no rows, pyspark sends no table."""

        def create(session: SparkSession) -> None:
            some = rows if rows.num_rows else _one_row(rows.schema)
            frame = session.createDataFrame(some)
            own = frame if rows.num_rows else frame.limit(0)
            own.createOrReplaceTempView(f"`{name.replace('`', '``')}`")

        self._do(create)

    def define(self, name: str, at: Relation, items: Sequence[str]) -> None:
        """Let `name` mean `items` of a table, of files and versions as they are now."""
        quoted = f"`{name.replace('`', '``')}`"
        self._do(
            lambda session: _frame(session, at).selectExpr(*items).createOrReplaceTempView(quoted)
        )

    def schema(self, at: Relation) -> list[tuple[str, str]]:
        """Names and Spark's types of a table's columns; SourceFault if it isn't there."""
        return self._of_source(
            lambda session: [
                (field.name, str(field.dataType.simpleString()))
                for field in _frame(session, at).schema.fields
            ]
        )

    def ping(self) -> None:
        """Raise `SourceFault` if the server isn't there any more."""
        self._of_source(lambda session: session.version)

    def set(self, name: str, value: str) -> None:
        """Change a setting that isn't pinned."""
        self._of_source(lambda session: session.conf.set(name, value))

    def setting(self, name: str) -> str | None:
        """What a setting is."""
        return self._of_source(lambda session: session.conf.get(name))

    @property
    def is_interrupted(self) -> bool:
        """Whether nothing runs in it any more."""
        return self._interrupted

    def kind(self, table: str) -> str:
        """What the catalog says that a table is, such as MANAGED or VIEW."""
        return self._of_source(lambda session: str(session.catalog.getTable(table).tableType))

    def tables(self) -> list[str]:
        """The names of the tables of the catalog's current database, without views."""
        return self._of_source(
            lambda session: [
                table.name
                for table in session.catalog.listTables()
                if table.tableType in ("MANAGED", "EXTERNAL")
            ]
        )

    def location(self) -> tuple[str, str]:
        """The catalog and the database that unqualified names are of."""
        if self._location is None:
            self._location = self._of_source(
                lambda session: (
                    session.catalog.currentCatalog(),
                    session.catalog.currentDatabase(),
                )
            )
        return self._location

    def interrupt(self) -> None:
        """Stop what runs on the server in this session, and all that would come after it."""
        with self._guard:
            self._interrupted = True
        # Of a server that is gone, nothing runs.
        with suppress(Exception):
            self._session.interruptAll()

    def close(self) -> None:
        """End the session, and forget its views."""
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._session.stop()

    def _of_source(self, work: Callable[[SparkSession], Value]) -> Value:
        """What `work` gives; what fails is a `SourceFault` that says nothing of why."""
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work(self._session)
        raise SourceFault(
            f"{self._name} doesn't answer as it should",
            hint="see that its tables are there, and what its own log says",
        )

    def _do(self, work: Callable[[SparkSession], Value]) -> Value:
        timer = threading.Timer(STATEMENT_SECONDS, self.interrupt)
        timer.daemon = True
        kind = "nothing"
        self._check_interrupted()
        timer.start()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return work(self._session)
        except Exception as error:  # noqa: BLE001 - every reason is made of rows
            kind = type(error).__name__
            is_gone = _is_gone(error)
        finally:
            timer.cancel()
        # Out here no exception chain leads back to what the server says.
        self._check_interrupted()
        _LOG.warning("Spark failed: %s", kind)
        if is_gone:
            raise SourceFault(f"{self._name} can't be reached any more", hint="ask again")
        raise ExecutionFailed

    def _check_interrupted(self) -> None:
        if self._interrupted:
            raise ExecutionCancelled


def _opened(url: str, name: str) -> SparkSession:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, whose types aren't used
            from pyspark.sql.connect.session import SparkSession as Session  # noqa: PLC0415
    except ImportError:
        raise SourceFault(
            "a source on Spark needs pyspark", hint="pip install 'dpsql[spark]'"
        ) from None
    for logger in _LOUD:
        logging.getLogger(logger).disabled = True
    opened: SparkSession | None = None
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = Session.builder.remote(read_address(url).remote)
        for setting, value in SETTINGS.items():
            builder = builder.config(setting, value)
        opened = builder.create()
    if opened is None:
        raise SourceFault(f"{name} can't be reached", hint="see that its Connect server runs")
    return opened


def _is_gone(error: Any) -> bool:
    """Whether the server can't be reached: its own failures have a class of errors."""
    return "UNAVAILABLE" in str(error)[:2000] and "Spark" not in type(error).__name__


def _frame(session: SparkSession, at: Relation) -> DataFrame:
    return session.read.parquet(at.name) if at.is_path else session.table(at.name)


def _one_row(schema: pa.Schema) -> pa.Table:
    return pa.table([pa.nulls(1, field.type) for field in schema], schema=schema)
