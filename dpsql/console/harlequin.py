"""An adapter for Harlequin, a full-screen SQL IDE: `harlequin -a dpsql schema.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from click import unstyle
from harlequin import HarlequinAdapter, HarlequinConnection, HarlequinCursor
from harlequin.autocomplete.completion import HarlequinCompletion
from harlequin.catalog import Catalog, CatalogItem
from harlequin.exception import HarlequinConnectionError, HarlequinQueryError
from harlequin.options import HarlequinAdapterOption, TextOption

from dpsql.console.completion import words
from dpsql.dbapi.connect import connect
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor
from dpsql.dbapi.statements.describe import whose
from dpsql.errors import Error
from dpsql.report.terminal.error_message import describe
from dpsql.schema.model import Column, Table
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    parse_type,
)

_OPTIONS: Final[list[HarlequinAdapterOption]] = [
    TextOption("analyst", "On whose account queries are charged."),
    TextOption("epsilon", "What a query spends; else the schema says it."),
]


class DpsqlCursor(HarlequinCursor):
    """An answer; its cost doesn't depend on how many of its rows are fetched."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._limit: int | None = None

    def columns(self) -> list[tuple[str, str]]:
        """Each column's name, with the sign that Harlequin shows for its type."""
        return [(name, _sign_of_code(code)) for name, code, *_ in self._cursor.description or ()]

    def set_limit(self, limit: int) -> DpsqlCursor:
        """Fetch at most `limit` rows."""
        self._limit = limit
        return self

    def fetchall(self) -> pa.Table | None:
        """The rows, None if there are none."""
        table = self._cursor.fetch_arrow_table().slice(0, self._limit)
        return table if table.num_rows else None


class DpsqlConnection(HarlequinConnection):
    """One analyst's connection."""

    def __init__(self, connection: Connection, init_message: str = "") -> None:
        super().__init__(init_message=init_message)
        self._connection = connection

    def execute(self, query: str) -> HarlequinCursor | None:
        """Answer a query and charge for it; an error's text has its position and its hint."""
        try:
            cursor = self._connection.execute(query)
        except Error as error:
            raise HarlequinQueryError(
                unstyle(describe(error, query)), title=error.sqlstate
            ) from None
        return None if cursor.description is None else DpsqlCursor(cursor)

    def cancel(self) -> None:
        """Stop the query that runs; its charge stands."""
        self._connection.interrupt()

    def get_catalog(self) -> Catalog:
        """The tables that may be named, with their columns."""
        schema = self._connection.catalog
        return Catalog(items=[_table(t, whose(t, schema)) for t in schema.visible_tables.values()])

    def get_completions(self) -> list[HarlequinCompletion]:
        """The functions that dpsql has a rule for."""
        return [HarlequinCompletion(n, "fn", n, 900, None) for n in words() if n.endswith("(")]

    def close(self) -> None:
        """Close the source and the ledger."""
        with suppress(Error):
            self._connection.close()


class DpsqlAdapter(HarlequinAdapter):
    """`harlequin -a dpsql schema.yaml --analyst alice`."""

    ADAPTER_OPTIONS = _OPTIONS
    IMPLEMENTS_CANCEL = True
    ADAPTER_DETAILS = "Differentially private answers: every new one is charged to a budget."

    def __init__(self, conn_str: Sequence[str], read_only: bool = False, **options: Any) -> None:  # noqa: ARG002, FBT001, FBT002 - Harlequin's interface
        self._schema = conn_str[0] if conn_str else ""
        self._options = {
            name: options[name] for name in ("analyst", "epsilon") if options.get(name)
        }

    @property
    def connection_id(self) -> str:
        """The schema file's path, by which Harlequin keeps its history and catalogue apart."""
        return str(Path(self._schema).absolute())

    def connect(self) -> DpsqlConnection:
        """Read the schema; nothing private is opened yet."""
        if not self._schema:
            raise HarlequinConnectionError("name a schema file: harlequin -a dpsql schema.yaml")
        try:
            connection = connect(self._schema, **self._options)
            left = connection.budget.dataset.epsilon_left
        except Error as error:
            raise HarlequinConnectionError(str(error), title=error.sqlstate) from None
        return DpsqlConnection(
            connection, f"epsilon = {left} is left; SHOW dpsql.budget tells more"
        )


def _table(table: Table, owner: str) -> CatalogItem:
    columns = [_column(table, column) for column in table.columns.values()]
    return CatalogItem(table.name, table.name, table.name, "t", columns, f"rows of {owner}")


def _column(table: Table, column: Column) -> CatalogItem:
    name = f"{table.name}.{column.name}"
    return CatalogItem(
        name, column.name, column.name, _sign(column.type), type_name=str(column.type)
    )


def _sign(kind: SqlType) -> str:
    match kind:
        case Boolean():
            return "t/f"
        case Integer(bits=bits):
            return "##" if bits > 32 else "#"
        case Decimal() | Double():
            return "#.#"
        case Date():
            return "d"
        case Timestamp():
            return "dt"
        case _:
            return "s"


def _sign_of_code(code: str) -> str:
    kind = parse_type(code)
    return "s" if kind is None else _sign(kind)
