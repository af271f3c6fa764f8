"""Where the rows are, as small frozen values that are sent to the worker process."""

from __future__ import annotations

from dataclasses import dataclass

Columns = tuple[tuple[str, str], ...]
"""Names and DuckDB types of a table's columns, in order."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table by the name that statements use.

    The name of a table of the DuckDB file begins with its schema and a dot, unless that is main.
    `file` is its Parquet or CSV file, None for a table of the DuckDB file. `columns` are all
    columns that statements see, each cast to its type where the source has another; None only for
    reading the catalogue, since no view is created of a table without declared columns. `renamed`
    has the columns with another name in the source, each with that name.
    """

    name: str
    file: str | None = None
    columns: Columns | None = None
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def stored(self) -> tuple[tuple[str, str, str], ...]:
        """Each declared column's name, its type, and its name in the source."""
        names = dict(self.renamed)
        return tuple((name, kind, names.get(name, name)) for name, kind in self.columns or ())

    @property
    def location(self) -> tuple[str, str]:
        """The table's schema in the DuckDB file, and its name there."""
        space, _, name = self.name.rpartition(".")
        return space or "main", name

    @property
    def is_delimited(self) -> bool:
        """Whether its file is CSV, which has no types: columns are text until they are declared."""
        return self.file is not None and self.file.lower().endswith(".csv")


@dataclass(frozen=True, slots=True)
class DuckDBSource:
    """A DuckDB file, or tables of files, or nothing at all (then only registered tables exist)."""

    database: str | None = None
    tables: tuple[SourceTable, ...] = ()
