"""Where the rows are, as a schema names it: files, or a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
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


class PushDown(Enum):
    """When a server computes statements itself, and isn't only read from."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ServerSource:
    """Where the rows are: a PostgreSQL database, by its connection string.

    `push_down` is its owner's to say, since a server's time and a client's memory are theirs.
    """

    url: str = field(repr=False)
    push_down: PushDown = PushDown.AUTO

    def __str__(self) -> str:
        return server_name(self.url)
