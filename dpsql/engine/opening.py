"""Which engine a source is opened with, what it computes, and who reads its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, assert_never

from dpsql.engine.duckdb import catalog as duckdb_catalog
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.sidecar.file import Sidecar
from dpsql.engine.source import Columns, DuckDBSource, PostgresSource, Source, SparkSource
from dpsql.engine.supported import Supported

if TYPE_CHECKING:
    from dpsql.engine.postgres.engine import PostgresEngine
    from dpsql.engine.spark.engine import SparkEngine

SourceEngine: TypeAlias = "DuckDBEngine | PostgresEngine | SparkEngine"
"""The engine of a source. A server's is imported where there is one: most processes have none."""


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
            from dpsql.engine.postgres.engine import PostgresEngine  # noqa: PLC0415

            return PostgresEngine(source, threads=threads, memory_limit=memory_limit)
        case SparkSource():
            from dpsql.engine.spark.engine import SparkEngine  # noqa: PLC0415

            return SparkEngine(source, threads=threads, memory_limit=memory_limit)
        case missing:
            assert_never(missing)


def supported(source: Source) -> Supported | None:
    """What a server computes of `source` itself, whether it is opened or not; None: nothing."""
    match source:
        case DuckDBSource():
            return None
        case PostgresSource():
            from dpsql.engine.postgres.semantics import SUPPORTED  # noqa: PLC0415

            return SUPPORTED
        case SparkSource():
            from dpsql.engine.spark import semantics as spark_semantics  # noqa: PLC0415

            return spark_semantics.SUPPORTED
        case missing:
            assert_never(missing)


def read_catalog(source: Source) -> Mapping[str, Columns]:
    """Read the columns of each table of `source`, or of all base tables if it names none."""
    match source:
        case DuckDBSource():
            return duckdb_catalog.read_catalog(source)
        case PostgresSource():
            from dpsql.engine.postgres import offered_columns  # noqa: PLC0415

            return offered_columns.read_catalog(source)
        case SparkSource():
            from dpsql.engine.spark import catalog as spark_catalog  # noqa: PLC0415

            return spark_catalog.read_catalog(source)
        case missing:
            assert_never(missing)
