"""connect(): a schema file opened for one analyst (PEP 249)."""

from __future__ import annotations

from fractions import Fraction
from os import PathLike
from pathlib import Path

from dpsql.dbapi.connection import Connection
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session


def connect(
    schema: str | PathLike[str],
    *,
    analyst: str = "analyst",
    epsilon: float | str | Fraction | None = None,
    spark: object | None = None,
) -> Connection:
    """Connect to the dataset that the schema file describes.

    `analyst` is on whose account queries are charged, `epsilon` what each spends if nothing else is
    said. `spark` is a SparkSession, where the schema's source is on Spark: statements run in new
    sessions of it. Private rows aren't opened before the first query.
    """
    path = Path(schema)
    dataset = path if spark is None else load_schema(path, spark=spark)
    return Connection(Session(dataset, analyst=analyst, epsilon=epsilon))
