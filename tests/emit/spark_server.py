"""Databases in sessions of a Spark Connect server, and what statements give there."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
import pytest

from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.engine.spark.connection import SETTINGS
from dpsql.plan.bounded_release.server_query import DomainRows, Salt, ServerQuery, ServerStatement
from dpsql.release.columns.group_keys import domain_table
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
)

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

ROOT: Final = Path(__file__).parent.parent.parent


@cache
def url() -> str:
    """A server: that of DPSQL_SPARK, or one of this process; tests are skipped without any."""
    named = os.environ.get("DPSQL_SPARK")
    if named is not None and named:
        return named
    pytest.skip("no Spark: export DPSQL_SPARK=$(.ci/spark start)")


@cache
def session(name: str) -> SparkSession:  # noqa: ARG001 - one for each
    """The session whose views are the database `name`."""
    address = url()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, which isn't used
        from pyspark.sql.connect.session import SparkSession as Session

        made = Session.builder.remote(address).create()
        for setting, value in SETTINGS.items():
            made.conf.set(setting, value)
    return made


def arrow_type(kind: SqlType) -> pa.DataType:
    """The type of a column whose values are declared to be of `kind`."""
    match kind:
        case Boolean():
            return pa.bool_()
        case Integer() if Integer(32).holds(kind):
            return pa.int32()
        case Integer() if BIGINT.holds(kind):
            return pa.int64()
        case Integer():
            return pa.decimal128(38, 0)
        case Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case Double(bits=bits):
            return pa.float64() if bits == 64 else pa.float32()
        case Date():
            return pa.date32()
        case Timestamp():
            return pa.timestamp("us")
        case _:
            return pa.string()


def create(name: str, tables: Mapping[str, pa.Table]) -> None:
    """Views of `tables` in the session `name`; a name may be `schema.table`."""
    for table, rows in tables.items():
        view(name, table, rows)


def view(name: str, table: str, rows: pa.Table) -> None:
    """A view of rows in the session `name`; of none, by SQL, since pyspark sends no empty table."""
    own = session(name)
    if rows.num_rows:
        own.createDataFrame(rows).createOrReplaceTempView(f"`{table}`")
        return
    columns = ", ".join(f"CAST(NULL AS {_sql_name(f.type)}) AS `{f.name}`" for f in rows.schema)
    own.sql(f"SELECT {columns} WHERE FALSE").createOrReplaceTempView(f"`{table}`")


_NAMES: Final = {
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.string(): "STRING",
}


def _sql_name(kind: pa.DataType) -> str:
    is_decimal = pa.types.is_decimal(kind)
    return f"DECIMAL({kind.precision},{kind.scale})" if is_decimal else _NAMES[kind]


def create_like(name: str, schema: Schema, connection: duckdb.DuckDBPyConnection) -> None:
    """The tables that unqualified names mean in DuckDB."""
    create(name, like(schema, connection))


def like(schema: Schema, connection: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
    """The rows of a schema's tables in DuckDB, of types that Spark has."""
    tables = {}
    for table in schema.tables.values():
        kinds = {c.name: c.type for c in table.columns.values()}
        quoted = ", ".join(_read(c, kind) for c, kind in kinds.items())
        rows = connection.sql(f'SELECT {quoted} FROM "{table.name}"').to_arrow_table()
        fields = [pa.field(c, arrow_type(kind)) for c, kind in kinds.items()]
        tables[table.name] = rows.cast(pa.schema(fields))
    return tables


def _read(column: str, kind: SqlType) -> str:
    is_wide = isinstance(kind, Integer) and not BIGINT.holds(kind)
    target = "DECIMAL(38,0)" if is_wide else str(kind)
    if arrow_type(kind) == pa.string():
        target = "VARCHAR"
    return f'TRY_CAST("{column}" AS {target}) AS "{column}"'


def run(statement: ServerStatement, world: str, salt: str = "1") -> pa.Table:
    """The rows of a statement over the database `world`."""
    texts = {}
    for number, parameter in enumerate(statement.parameters, 1):
        match parameter:
            case Salt():
                texts[f"p{number}"] = salt
            case DomainRows(domain=domain):
                view(world, f"parameter {number}", domain_table(domain))
            case _:
                raise TypeError("Spark has no such parameter")
    return session(world).sql(statement.sql, texts or None).toArrow()


def tuples(table: pa.Table) -> list[tuple[object, ...]]:
    """Rows, of columns that may have one name."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def totals(query: ServerQuery, world: str, count: int, salt: str = "1") -> Groups:
    """The integers of each group; none if the release has no statistics."""
    if not count:
        return {}
    return groups(tuples(run(query.totals, world, salt)), count)


def groups(rows: Iterable[tuple[object, ...]], count: int) -> Groups:
    """Rows as groups with their integers, which are the last `count` columns."""
    made: Groups = {}
    for row in rows:
        key = row[: len(row) - count]
        assert key not in made, "a group came twice"
        made[key] = tuple(map(_whole, row[len(row) - count :]))
    return made


def _whole(number: object) -> int:
    assert number == int(number), number  # type: ignore[call-overload]
    return int(number)  # type: ignore[call-overload,no-any-return]


def histograms(query: ServerQuery, world: str, salt: str = "1") -> list[Histogram]:
    """The counts of cells of each selection."""
    made: list[Histogram] = []
    for statement in query.histograms:
        own: Histogram = {}
        for *key, cell, count in tuples(run(statement, world, salt)):
            cells = own.setdefault(tuple(key), {})
            assert cell not in cells, "a cell came twice"
            cells[_whole(cell)] = _whole(count)
        made.append(own)
    return made
