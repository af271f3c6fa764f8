"""Where the rows are, as a schema names it: files, or a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpsql.engine.connection_string import server_name


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows are: a DuckDB file, or a folder with TABLE.parquet or TABLE.csv files.

    `files` maps each declared table to its file when `path` is a folder, and is empty otherwise.
    """

    path: Path
    files: Mapping[str, Path]

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class ServerSource:
    """Where the rows are: a PostgreSQL database, by its connection string."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        return server_name(self.url)
