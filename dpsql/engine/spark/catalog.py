"""Names, types and comments of tables on Spark, as a schema may declare them. No row is read."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from dpsql.engine.duckdb.declared_keys import Declared
from dpsql.engine.source import Columns, ServerTable, SparkSource
from dpsql.engine.spark.address import read_address
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.tables import columns_of, relation
from dpsql.errors import SourceFault

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_PARQUET: Final = ".parquet"


def read_catalog(source: SparkSource) -> Mapping[str, Columns]:
    """Read the columns of the tables of `source`, or of all that it offers if it names none.

    These are the tables of the current database, or the Parquet files of the folder. A table that
    can't be a source is a `SourceFault` where it is named, and isn't offered otherwise.
    """
    session = SparkServerSession(source)
    try:
        if source.tables:
            return {table.name: columns_of(session, source, table) for table in source.tables}
        return _offered(session, source)
    finally:
        session.close()


def read_declarations(source: SparkSource) -> Mapping[str, Declared]:
    """Read the comments on the tables of `source` in its catalog; files have none.

    Spark keeps no key, so that none is declared.
    """
    session = SparkServerSession(source)
    try:
        return {
            table.name: Declared(comments=_comments(session, at.name))
            for table in source.tables
            for at in [relation(session, source, table.name)]
            if not at.is_path
        }
    finally:
        session.close()


def _offered(session: SparkServerSession, source: SparkSource) -> Mapping[str, Columns]:
    folder = read_address(source.url).folder
    if folder is not None:
        tables = map(ServerTable, _in_folder(session, folder))
        return {table.name: columns_of(session, source, table) for table in tables}
    readable = {}
    for name in session.tables():
        with suppress(SourceFault):
            readable[name] = columns_of(session, source, ServerTable(name))
    # A server that is gone since offers nothing, either.
    session.ping()
    return readable


def _in_folder(session: SparkServerSession, folder: str) -> list[str]:
    """TABLE.parquet, a file or a folder of files, and SCHEMA/TABLE.parquet."""

    def read(spark: SparkSession) -> list[str]:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        # Of none of them is the content read.
        paths = files.option("pathGlobFilter", f"*{_PARQUET}").load(folder).select("path")
        tables = paths.selectExpr(f"SUBSTRING_INDEX(path, '{_PARQUET}', 1) AS path").distinct()
        return [str(path) for path in tables.toArrow().column(0).to_pylist()]

    inside = f"{urlsplit(folder).path}/"
    parts = [path.partition(inside)[2].split("/") for path in session.ask(read)]
    # a.b.parquet is not the table b of a schema a.
    return sorted(
        ".".join(names) for names in parts if len(names) <= 2 and not any("." in n for n in names)
    )


def _comments(session: SparkServerSession, table: str) -> Mapping[str, str]:
    """The comments on a table's columns, by their names; "" has the table's own."""

    def read(spark: SparkSession) -> dict[str, str]:
        texts = {column.name: column.description for column in spark.catalog.listColumns(table)}
        texts[""] = spark.catalog.getTable(table).description
        return {name: str(text) for name, text in texts.items() if text}

    return session.ask(read)
