"""Names and types of tables on Spark, as a schema may declare them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.engine.source import Columns, SparkSource
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.tables import columns_of


def read_catalog(source: SparkSource) -> Mapping[str, Columns]:
    """Read the columns of the tables of `source`, or of the current database if it names none.

    A table that can't be a source is a `SourceFault` where it is named.
    """
    session = SparkServerSession(source.url)
    try:
        names = [table.name for table in source.tables] or session.tables()
        return {name: columns_of(session, source, name) for name in names}
    finally:
        session.close()
