"""A release as statements that a server computes of its own rows, in its own SQL."""

from __future__ import annotations

from msgspec import Struct

from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.plan.bounded_release.engine_query import DomainTable


class Salt(Struct, frozen=True):
    """The parameter that is the secret key of hashes, a text."""


class DomainColumn(Struct, frozen=True):
    """The parameter that is an array of the cells' numbers of `domain`, or of their `key`."""

    domain: DomainTable
    key: int | None


class DomainRows(Struct, frozen=True):
    """The parameter that is a table of `domain`: of its cells the numbers and keys."""

    domain: DomainTable


Parameter = Salt | DomainColumn | DomainRows


class ServerStatement(Struct, frozen=True):
    """A SELECT in a server's SQL, and what each of its parameters, from $1 on, stands for.

    `tables` are those of the schema that it reads, by the names that statements use, and `names`
    all names in it. `columns` are its rows' names and DuckDB types, empty where nobody reads them.
    Of the `prepared` tables it reads the rows that a sidecar has.
    """

    sql: str
    parameters: tuple[Parameter, ...]
    tables: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    columns: tuple[tuple[str, str], ...] = ()
    prepared: frozenset[str] = frozenset()


class ServerQuery(Struct, frozen=True):
    """The statement of a release's integers, and those of its cells' counts, by one strategy.

    They have the columns of EngineQuery and Histogram, and are executed with the same salt. Where
    they read a `sidecar`, `without_sidecar` is run in their place if that can't be read when they
    are; None: rows are pulled.
    """

    strategy: str
    totals: ServerStatement
    histograms: tuple[ServerStatement, ...]
    sidecar: ServerSidecar | None = None
    without_sidecar: ServerQuery | None = None

    @property
    def statements(self) -> tuple[ServerStatement, ...]:
        """All of them: either the server computes each, or none."""
        return (self.totals, *self.histograms)
