"""Where the rows are, as a schema names it: files, or a server."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import msgspec

from dpsql.engine.connection_string import server_name
from dpsql.engine.source import CsvForm, Spill
from dpsql.engine.spark.address import SPARK
from dpsql.structs import not_compared, not_shown


class Source(msgspec.Struct, frozen=True):
    """Where the rows are: a DuckDB file, or a folder with TABLE.parquet or TABLE.csv files.

    `files` maps each declared table to its file when `path` is a folder, and is empty otherwise.
    `csv` says how those CSV files are written that aren't UTF-8 with commas. Without `spill`, what
    memory doesn't hold isn't written to disk.
    """

    path: Path
    files: Mapping[str, Path]
    csv: Mapping[str, CsvForm] = msgspec.field(default_factory=dict)
    spill: Spill | None = None

    def is_delimited(self, table: str) -> bool:
        """Whether a table's file is CSV, whose columns have no types of their own."""
        return table in self.files and self.files[table].suffix == ".csv"

    def __str__(self) -> str:
        return str(self.path)


class PushDown(Enum):
    """When a server computes statements itself, and isn't only read from."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@not_shown("url", "session")
@not_compared("session")
class ServerSource(msgspec.Struct, frozen=True):
    """Where the rows are: a PostgreSQL database, or Spark, by its connection string.

    `push_down` is its owner's to say, since a server's time and a client's memory are theirs.
    `session` is a SparkSession that Python handed in, in place of Spark's host.
    """

    url: str
    push_down: PushDown = PushDown.AUTO
    session: object | None = None

    def __str__(self) -> str:
        return server_name(self.url)

    @property
    def keeps_keys(self) -> bool:
        """Whether constraints of the server keep declared keys; Spark has none that do."""
        return not self.is_spark

    @property
    def is_spark(self) -> bool:
        """Whether it is Spark, and no PostgreSQL."""
        return self.url.startswith(SPARK)
