"""The schema's tables as SQLAlchemy describes tables: names, types and comments.

Keys are not reported: tools would offer them for grouping and joining, and the key of a private
table is the privacy unit itself. No row is read, and nothing is charged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sqlalchemy import types
from sqlalchemy.exc import NoSuchTableError

from dpsql.schema.model import Schema, Table
from dpsql.schema.qualified_name import MAIN, bare, schema_of
from dpsql.schema.sql_type import (
    Array,
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


class Reflection:
    """The methods that `sqlalchemy.inspect` calls; `schema` is one of SQL, None for "main"."""

    def get_schema_names(self, connection: Connection, **_: Any) -> list[str]:
        """The SQL schemas of the tables and views that may be named, main first."""
        others = {schema_of(name) for name in _schema(connection).visible_tables} - {MAIN}
        return [MAIN, *sorted(others)]

    def get_table_names(
        self, connection: Connection, schema: str | None = None, **_: Any
    ) -> list[str]:
        """The tables that the schema file declares, and saved releases."""
        return _names(_schema(connection), schema, views=False)

    def get_view_names(
        self, connection: Connection, schema: str | None = None, **_: Any
    ) -> list[str]:
        """The views that the schema file declares; their definitions are not reported."""
        return _names(_schema(connection), schema, views=True)

    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        """Whether a table or view of that name may be named in a statement."""
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
        """The comment on a table in the schema file."""
        return {"text": self._table(connection, table_name, schema).comment or None}

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """No primary key, since keys are not reported."""
        self._table(connection, table_name, schema)
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """No foreign keys, since keys are not reported."""
        self._table(connection, table_name, schema)
        return []

    get_indexes = get_unique_constraints = get_check_constraints = get_foreign_keys

    def _table(self, connection: Connection, name: str, schema: str | None) -> Table:
        table = _schema(connection).resolve(schema or MAIN, name)
        if table is None or not self.has_table(connection, name, schema):
            raise NoSuchTableError(name)
        return table


def sqlalchemy_type(kind: SqlType) -> types.TypeEngine[Any]:
    """SQLAlchemy's type for `kind`, or the next wider one that SQLAlchemy has."""
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
        case Array(of=of):
            return types.ARRAY(sqlalchemy_type(of))
        case Null():
            return types.NullType()
        case missing:
            assert_never(missing)


def _names(schema: Schema, space: str | None, *, views: bool) -> list[str]:
    wanted = MAIN if space is None else space
    return [
        bare(name)
        for name in schema.visible_tables
        if (name in schema.views) is views and schema_of(name) == wanted
    ]


def _schema(connection: Connection) -> Schema:
    raw: Any = connection.connection.dbapi_connection
    schema: Schema = raw.catalog
    return schema
