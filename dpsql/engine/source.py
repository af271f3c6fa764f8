"""Where the rows are, as small frozen values that are sent to the worker process."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.engine.connection_string import server_name
from dpsql.structs import not_compared, not_shown

Columns = tuple[tuple[str, str], ...]
"""Names and DuckDB types of a table's columns, in order."""

FAILING_MOMENTS: Final = "TIMESTAMP(MILLIS) or INT96"
"""The type of a Parquet file's moments of which a far one would fail whoever reads them."""

FAILING_TIMES: Final = "TIME of Parquet"
"""The type of a Parquet file's times, of which one beyond a day would fail whoever reads them."""

FAILING_DECIMALS: Final = "DECIMAL of Parquet in more bytes than its digits need"
"""The type of decimals of which one that is beyond its digits would fail whoever reads them."""

FAILING_ON_SPARK: Final = "Spark timestamp of ORC or in milliseconds"
"""The type of such moments on Spark, which reads INT96 whatever they are."""

UTF_8: Final = "utf-8"


class CsvForm(Struct, frozen=True):
    """How a CSV file is written: what parts its fields, and the name of its encoding in Python."""

    delimiter: str = ","
    encoding: str = UTF_8


PLAIN_CSV: Final = CsvForm()


class SourceTable(Struct, frozen=True):
    """A table by the name that statements use.

    The name of a table of the DuckDB file begins with its schema and a dot, unless that is main.
    `file` is its Parquet or CSV file, None for a table of the DuckDB file. `columns` are all
    columns that statements see, each cast to its type where the source has another; None only for
    reading the catalogue, since no view is created of a table without declared columns. `renamed`
    has the columns with another name in the source, each with that name. `csv` says how a CSV file
    is written. Of a table that `is_public`, a row may fail whoever reads it.
    """

    name: str
    file: str | None = None
    columns: Columns | None = None
    renamed: tuple[tuple[str, str], ...] = ()
    csv: CsvForm = PLAIN_CSV
    is_public: bool = False

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


class UnitColumn(Struct, frozen=True):
    """The unit of a row is the value of its `column`, among units of `kind`."""

    kind: str
    column: str


class UnitOfParent(Struct, frozen=True):
    """The units of a row are those of the rows of the table `parent` that agree on all `pairs`."""

    parent: str
    pairs: tuple[tuple[str, str], ...]


class RowByKey(Struct, frozen=True):
    """Each row is a unit, which goes by the columns `key`; of equal keys each row is one."""

    key: tuple[str, ...]


SampledUnit = UnitColumn | UnitOfParent | RowByKey


@not_shown("key")
class SourceSample(Struct, frozen=True):
    """Rows are read of drawn units alone, whose keyed hash of 64 bits is below `threshold`.

    `tables` says of each private table how its rows' units are told; others have all their rows.
    `key` is the secret that decides, 64 hexadecimal digits; "": nothing may be read.
    """

    threshold: int
    tables: tuple[tuple[str, SampledUnit], ...]
    key: str = ""


class Spill(Struct, frozen=True):
    """What memory doesn't hold may take `gigabytes` (10⁹ bytes) of disk, enciphered.

    It is written to folders beside `target`, a path that nothing has, by names that begin with it.
    """

    target: str
    gigabytes: int


class DuckDBSource(Struct, frozen=True):
    """A DuckDB file, or tables of files, or nothing at all (then only registered tables exist).

    Where there is a `sample`, statements see no other rows of its tables. Without `spill`, what
    memory doesn't hold fails.
    """

    database: str | None = None
    tables: tuple[SourceTable, ...] = ()
    sample: SourceSample | None = None
    spill: Spill | None = None


class ServerTable(Struct, frozen=True):
    """A table on a server by the name that statements use.

    The name begins with its schema and a dot, unless that is public. `columns` are all that
    statements see of it, None only for reading the catalog; `renamed` are those that the server
    calls otherwise. No two rows share a `key`, which is None where none is declared; `identifying`
    columns are those that tell units, or reference keys. Of a table that `is_public`, a row may
    fail whoever reads it.
    """

    name: str
    columns: Columns | None = None
    renamed: tuple[tuple[str, str], ...] = ()
    key: tuple[str, ...] | None = None
    identifying: frozenset[str] = frozenset()
    is_public: bool = False

    @property
    def stored(self) -> tuple[tuple[str, str, str], ...]:
        """Of each declared column its name, its type, and what the server calls it."""
        names = dict(self.renamed)
        return tuple((name, kind, names.get(name, name)) for name, kind in self.columns or ())

    @property
    def location(self) -> tuple[str, str]:
        """Its schema on the server, and its name there."""
        space, _, name = self.name.rpartition(".")
        return space or "public", name


@not_shown("url")
class PostgresSource(Struct, frozen=True):
    """Tables in the PostgreSQL database that the connection string `url` names.

    `version` is what the owner says of the data: nothing on a server tells it. Without `tables` it
    is all base tables, for reading the catalog.
    """

    url: str
    version: str = ""
    tables: tuple[ServerTable, ...] = ()

    def __str__(self) -> str:
        return server_name(self.url)


@not_shown("url", "session")
@not_compared("session")
class SparkSource(Struct, frozen=True):
    """Tables on Spark, which `url` names by Spark Connect; its rows stay there.

    `version` is what the owner says of the data. Without `tables` it is all of the catalog's
    current database, for reading the catalog. `session` is a SparkSession that Python handed in:
    it takes the place of the host of `url`.
    """

    url: str
    version: str = ""
    tables: tuple[ServerTable, ...] = ()
    session: object | None = None

    def __str__(self) -> str:
        return server_name(self.url)


Source = DuckDBSource | PostgresSource | SparkSource
