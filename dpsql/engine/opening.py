"""Which engine a source is opened with, what it computes, and who reads its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from dpsql.engine.duckdb import catalog as duckdb_catalog
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.postgres import offered_columns
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.postgres.semantics import SUPPORTED
from dpsql.engine.sidecar.file import Sidecar
from dpsql.engine.source import Columns, DuckDBSource, PostgresSource, Source, SparkSource
from dpsql.engine.spark import catalog as spark_catalog
from dpsql.engine.spark.engine import SparkEngine
from dpsql.engine.spark.semantics import SUPPORTED as SUPPORTED_ON_SPARK
from dpsql.engine.supported import Supported

SourceEngine = DuckDBEngine | PostgresEngine | SparkEngine


def open_engine(
    source: Source,
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
    sidecar: Sidecar | None = None,
) -> SourceEngine:
    """The locked engine over `source`; one that isn't what is declared is a `SourceFault`."""
    match source:
        case DuckDBSource():
            return DuckDBEngine(source, threads=threads, memory_limit=memory_limit, sidecar=sidecar)
        case PostgresSource():
            return PostgresEngine(source, threads=threads, memory_limit=memory_limit)
        case SparkSource():
            return SparkEngine(source, threads=threads, memory_limit=memory_limit)
        case missing:
            assert_never(missing)


def supported(source: Source) -> Supported | None:
    """What a server computes of `source` itself, whether it is opened or not; None: nothing."""
    match source:
        case DuckDBSource():
            return None
        case PostgresSource():
            return SUPPORTED
        case SparkSource():
            return SUPPORTED_ON_SPARK
        case missing:
            assert_never(missing)


def read_catalog(source: Source) -> Mapping[str, Columns]:
    """Read the columns of each table of `source`, or of all base tables if it names none."""
    match source:
        case DuckDBSource():
            return duckdb_catalog.read_catalog(source)
        case PostgresSource():
            return offered_columns.read_catalog(source)
        case SparkSource():
            return spark_catalog.read_catalog(source)
        case missing:
            assert_never(missing)
