"""A draft from a PostgreSQL database or from Spark, by its connection string. No row is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from dpsql.cli.init.draft import Draft, Origin
from dpsql.cli.init.from_database import dataset_name, draft_table
from dpsql.engine.connection_string import split, without_password
from dpsql.engine.duckdb.declared_keys import Declared
from dpsql.engine.opening import read_catalog
from dpsql.engine.postgres import declared_keys
from dpsql.engine.source import PostgresSource, ServerTable, SparkSource
from dpsql.engine.spark import catalog as spark_catalog
from dpsql.engine.spark.address import read_address, without_secrets
from dpsql.errors import SourceFault


def of_postgres(url: str) -> Draft:
    """A draft of all base tables, with the keys, references and comments that are declared."""
    source = PostgresSource(url)
    tables, declared = read_catalog(source), declared_keys.read_declarations(source)
    if not tables:
        raise SourceFault(
            f"{source} has no tables", hint="name a database that has some, in PostgreSQL"
        )
    return Draft(
        dataset_name(Path(unquote(split(url).database))),
        without_password(url),
        f"the catalogue of {source}",
        tuple(draft_table(name, columns, declared[name]) for name, columns in tables.items()),
        kind=Origin.POSTGRES,
    )


def of_spark(url: str) -> Draft:
    """A draft of all tables of the current database, or of a folder's files, with comments."""
    tables = read_catalog(SparkSource(url))
    source = SparkSource(url, tables=tuple(map(ServerTable, tables)))
    declared: Mapping[str, Declared] = spark_catalog.read_declarations(source)
    folder = read_address(url).folder
    if not tables:
        raise SourceFault(
            f"{source} has no tables",
            hint="name a folder of TABLE.parquet: sc://host:15002/;folder=s3a://bucket/shop"
            if folder is None
            else f"see that {folder} has TABLE.parquet, a file or a folder of files",
        )
    return Draft(
        dataset_name(Path(folder or "spark")),
        without_secrets(url),
        f"the catalogue of {source}",
        tuple(
            draft_table(name, columns, declared.get(name, Declared()))
            for name, columns in tables.items()
        ),
        kind=Origin.SPARK,
    )
