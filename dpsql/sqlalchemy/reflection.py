"""The schema's tables as SQLAlchemy describes tables: names, types and comments.

Keys are not told: tools offer them as groups and joins of their own, and the key of a private table
is the unit itself. No row is read, and nothing is charged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never

from sqlalchemy import types
from sqlalchemy.exc import NoSuchTableError

from dpsql.schema.model import Schema, Table
from dpsql.schema.type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    Null,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

MAIN: Final = "main"
"""The one schema, in the sense of SQL, that there is."""


class Reflection:
    """What `sqlalchemy.inspect` asks a dialect for; `schema` is SQL's: None, or "main"."""

    def get_schema_names(self, connection: Connection, **_: Any) -> list[str]:  # noqa: ARG002
        """The only one."""
        return [MAIN]

    def get_table_names(
        self, connection: Connection, schema: str | None = None, **_: Any
    ) -> list[str]:
        """The tables that the schema file declares; others do not exist."""
        found = _schema(connection)
        listed = [name for name in found.offered if name not in found.views]
        return listed if schema in {None, MAIN} else []

    def get_view_names(
        self, connection: Connection, schema: str | None = None, **_: Any
    ) -> list[str]:
        """The views that the schema file declares; their text is their owner's."""
        found = _schema(connection)
        return [name for name in found.offered if name in found.views and schema in {None, MAIN}]

    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        """Tell whether a table or view is declared."""
        listed = self.get_table_names(connection, schema) + self.get_view_names(connection, schema)
        return table_name in listed

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """The declared columns, with the types that their values have in answers."""
        return [
            {
                "name": column.name,
                "type": sqlalchemy_type(column.type),
                "nullable": column.nullable,
                "default": None,
                "autoincrement": False,
                "comment": column.comment or None,
            }
            for column in self._table(connection, table_name, schema).columns.values()
        ]

    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, str | None]:
        """What the schema file says of a table."""
        return {"text": self._table(connection, table_name, schema).comment or None}

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """Not told."""
        self._table(connection, table_name, schema)
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Not told."""
        self._table(connection, table_name, schema)
        return []

    get_indexes = get_unique_constraints = get_check_constraints = get_foreign_keys

    def _table(self, connection: Connection, name: str, schema: str | None) -> Table:
        if not self.has_table(connection, name, schema):
            raise NoSuchTableError(name)
        return _schema(connection).offered[name]


def sqlalchemy_type(kind: SqlType) -> types.TypeEngine[Any]:
    """SQLAlchemy's name of a type; of what it has no name for, of the next wider one."""
    match kind:
        case Boolean():
            return types.Boolean()
        case Integer(bits=8 | 16, signed=True) | Integer(bits=8):
            return types.SmallInteger()
        case Integer(bits=32, signed=True) | Integer(bits=16):
            return types.Integer()
        case Integer():
            return types.BigInteger()
        case Decimal(precision=precision, scale=scale):
            return types.Numeric(precision, scale)
        case Double():
            return types.Float(53)
        case Date():
            return types.Date()
        case Timestamp():
            return types.TIMESTAMP()
        case Interval():
            return types.Interval()
        case Varchar() | Uuid():
            return types.String()
        case Null():
            return types.NullType()
        case missing:
            assert_never(missing)


def _schema(connection: Connection) -> Schema:
    raw: Any = connection.connection.dbapi_connection
    found: Schema = raw.schema
    return found
