"""Databases on a PostgreSQL server, and what statements of its dialect give there."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from functools import cache
from hashlib import sha256
from typing import Final

import duckdb
import psycopg
import pytest

from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.plan.bounded_release.server_query import DomainRows, Salt, ServerQuery, ServerStatement
from dpsql.plan.expression_text import describe_number
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Uuid,
)


@cache
def server() -> psycopg.Connection[tuple[object, ...]]:
    """A connection; the test is skipped where there is no server."""
    url = os.environ.get("DPSQL_POSTGRES")
    if not url:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.RawCursor)


_MADE: Final[set[str]] = set()


def own(name: str) -> str:
    """The schema that this process has for `name`: others use the same server."""
    schema = f"{sha256(name.encode()).hexdigest()[:12]} {os.getpid()}"
    if schema not in _MADE:
        server().execute(f'CREATE SCHEMA "{schema}"'.encode())
        _MADE.add(schema)
    return schema


@atexit.register
def _drop() -> None:
    if not server.cache_info().currsize:
        return
    with closing(server()) as connection:
        for schema in _MADE:
            connection.execute(f'DROP SCHEMA "{schema}" CASCADE'.encode())


def column_type(kind: SqlType) -> str:
    """The type of a column whose values are declared to be of `kind`."""
    match kind:
        case Boolean():
            return "boolean"
        case Integer() if BIGINT.holds(kind):
            return (
                "smallint"
                if kind.bits < 16
                else {16: "integer", 32: "bigint", 64: "bigint"}[kind.bits]
            )
        case Integer():
            return "numeric(39)"
        case Decimal(precision=precision, scale=scale):
            return f"numeric({precision},{scale})"
        case Double(bits=bits):
            return "double precision" if bits == 64 else "real"
        case Date():
            return "date"
        case Timestamp():
            return "timestamp"
        case Uuid():
            return "uuid"
        case _:
            return "text"


def create(
    name: str,
    tables: Mapping[str, Mapping[str, SqlType]],
    rows: Mapping[str, Sequence[Sequence[str | None]]],
) -> None:
    """The schema `name` with `tables`; of their rows, texts, those that columns hold."""
    connection = server()
    schema = own(name)
    for table, columns in tables.items():
        declared = ", ".join(f'"{c}" {column_type(kind)}' for c, kind in columns.items())
        connection.execute(f'CREATE TABLE "{schema}"."{table}" ({declared})'.encode())
        typed = list(columns.values())
        into = f'COPY "{schema}"."{table}" FROM STDIN'.encode()
        held = [row for row in rows.get(table, ()) if all(map(is_held, row, typed))]
        with connection.cursor() as cursor, cursor.copy(into) as copy:
            for row in held:
                copy.write_row([None if v is None else _written(v) for v in row])


def is_held(value: str | None, kind: SqlType) -> bool:
    """Whether PostgreSQL has the value: it has no character of code 0, and fewer days."""
    if value is None:
        return True
    # To ask the server of each value takes long: of the others it holds all.
    is_narrow = isinstance(kind, Decimal) and kind.scale == kind.precision
    if is_narrow or isinstance(kind, Date | Timestamp):
        return _is_value(_written(value), column_type(kind))
    return "\0" not in value


def _written(value: str) -> str:
    """DuckDB writes (BC) after the day, PostgreSQL BC after all."""
    return f"{value.replace(' (BC)', '')} BC" if " (BC)" in value else value


@cache
def _is_value(value: str, name: str) -> bool:
    try:
        server().execute(f"SELECT CAST($1 AS {name})".encode(), [value])
    except psycopg.DataError:
        return False
    return True


def create_like(name: str, schema: Schema, connection: duckdb.DuckDBPyConnection) -> None:
    """The schema `name` with the tables that unqualified names mean in DuckDB."""
    tables, rows = {}, {}
    for table in schema.tables.values():
        kinds = {c.name: c.type for c in table.columns.values()}
        shown = ", ".join(f'CAST("{c}" AS VARCHAR)' for c in kinds)
        tables[table.name] = kinds
        rows[table.name] = connection.sql(f'SELECT {shown} FROM "{table.name}"').fetchall()
    create(name, tables, rows)


def run(statement: ServerStatement, world: str, salt: str = "1") -> list[tuple[object, ...]]:
    """The rows of a statement in the schema `world`."""
    connection = server()
    connection.execute(f'SET search_path TO "{own(world)}"'.encode())
    return connection.execute(statement.sql.encode(), parameters(statement, salt)).fetchall()


def parameters(statement: ServerStatement, salt: str) -> list[object]:
    """The values of a statement's parameters."""
    values: list[object] = []
    for parameter in statement.parameters:
        if isinstance(parameter, Salt):
            values.append(salt)
        elif isinstance(parameter, DomainRows):
            raise TypeError("PostgreSQL has no such parameter")
        elif parameter.key is None:
            values.append(list(range(len(parameter.domain.cells))))
        else:
            values.append([_sent(cell[parameter.key]) for cell in parameter.domain.cells])
    return values


def _sent(value: object) -> object:
    # As texts, which the statement casts: an array of numbers would be of the first one's type.
    match value:
        case None | str():
            return value
        case bool():
            return str(value)
        case Fraction():
            return str(value.numerator) if value.denominator == 1 else _decimal(value)
        case _:
            return str(value)


def _decimal(value: Fraction) -> str:
    return describe_number(value)


def totals(query: ServerQuery, world: str, count: int, salt: str = "1") -> Groups:
    """The integers of each group; none if the release has no statistics."""
    if not count:
        return {}
    groups: Groups = {}
    for row in run(query.totals, world, salt):
        key = row[: len(row) - count]
        assert key not in groups, "a group came twice"
        groups[key] = tuple(map(_whole, row[len(row) - count :]))
    return groups


def _whole(number: object) -> int:
    assert number == int(number), number  # type: ignore[call-overload]
    return int(number)  # type: ignore[call-overload,no-any-return]


def histograms(query: ServerQuery, world: str, salt: str = "1") -> list[Histogram]:
    """The counts of cells of each selection."""
    made: list[Histogram] = []
    for statement in query.histograms:
        own: Histogram = {}
        for *key, cell, count in run(statement, world, salt):
            cells = own.setdefault(tuple(key), {})
            assert cell not in cells, "a cell came twice"
            cells[_whole(cell)] = _whole(count)
        made.append(own)
    return made
