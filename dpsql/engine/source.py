"""Where the rows are: small frozen values that cross the worker's process boundary."""

from __future__ import annotations

from dataclasses import dataclass

Columns = tuple[tuple[str, str], ...]
"""Names and DuckDB types of a table's columns, in order."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table by the name that statements use.

    The name of a table of the DuckDB file begins with its schema and a dot, unless that is main.
    `file` is its Parquet or CSV file, None for a table of the DuckDB file. `columns` are all that
    statements see of it, each cast to its type where the source has another; None only for reading
    the catalogue, since a table without declared columns isn't offered. `renamed` are those of them
    that the source calls otherwise, each with its name there.
    """

    name: str
    file: str | None = None
    columns: Columns | None = None
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def stored(self) -> tuple[tuple[str, str, str], ...]:
        """Of each declared column its name, its type, and what the source calls it."""
        names = dict(self.renamed)
        return tuple((name, kind, names.get(name, name)) for name, kind in self.columns or ())

    @property
    def location(self) -> tuple[str, str]:
        """Its schema in the DuckDB file, and its name there."""
        space, _, name = self.name.rpartition(".")
        return space or "main", name

    @property
    def is_delimited(self) -> bool:
        """A CSV file has no catalogue: its columns are text until they are declared."""
        return self.file is not None and self.file.lower().endswith(".csv")


@dataclass(frozen=True, slots=True)
class DuckDBSource:
    """A DuckDB file, or tables of files, or nothing at all (then only registered tables exist)."""

    database: str | None = None
    tables: tuple[SourceTable, ...] = ()
