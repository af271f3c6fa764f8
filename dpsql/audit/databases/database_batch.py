"""Many databases of one schema side by side in one engine, queried together.

The very SQL of a release runs in a lateral join with the list of databases, each scan seeing the
rows of one of them: hundreds of neighbors cost about as much as one. `load` makes a single database
visible, for callers that run the SQL as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import duckdb
import pyarrow as pa

from dpsql.audit.databases.unit_ownership import Rows
from dpsql.engine.duckdb.lockdown import configure
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.model import Public, Schema, Table
from dpsql.session.compile.compiled_release import CompiledRelease

Groups = dict[tuple[object, ...], tuple[int, ...]]
"""The integers of each group, before noise."""

Histogram = dict[tuple[object, ...], dict[int, int]]
"""The rows of each group in each cell of a selection."""

Released = Mapping[str, pa.Table]
NO_TABLES: Released = MappingProxyType({})

_BASE = "#base"


class StatementFails(Exception):
    """A statement fails on one of the databases, the `world`: the failure tells of its rows."""

    def __init__(self, world: int, why: str) -> None:
        super().__init__(f"database {world}: {why}")
        self.world = world


class DatabaseBatch:
    """Databases of shared pieces: database n holds the pieces `members[n]`, and all public rows.

    They hold synthetic rows only: an audit never opens a source.
    """

    def __init__(
        self,
        schema: Schema,
        public: Rows,
        pieces: Sequence[Rows],
        members: Sequence[Collection[int]],
    ) -> None:
        self.schema, self.count = schema, len(members)
        self._public, self._pieces, self._members = public, pieces, members
        self._offered: dict[str, pa.Table] = {}
        self._entered: set[int] = set()
        self.connection = self._create()

    @classmethod
    def separately(cls, schema: Schema, public: Rows, databases: Sequence[Rows]) -> Self:
        """Databases that share nothing but their public rows."""
        return cls(schema, public, databases, [[n] for n in range(len(databases))])

    def totals(
        self, release: CompiledRelease, salt: str, released: Released = NO_TABLES
    ) -> list[Groups]:
        """The engine's exact groups of `release` in each database.

        `released` are the tables of other releases that it reads. Raises StatementFails if the
        engine fails on one: that is as much a difference of two databases as a number.
        """
        query, groups = release.step.query, [Groups() for _ in range(self.count)]
        self.create_views(query, {name: released[name] for name in release.step.reads})
        count = len(release.step.bounded.contributions.statistics)
        if not count:
            return groups
        for world, *row in self._everywhere(query.sql, [salt] * query.salted):
            key = tuple(row[: len(row) - count])
            assert key not in groups[world], "a group came twice"
            groups[world][key] = tuple(map(int, row[len(row) - count :]))
        return groups

    def histograms(self, release: CompiledRelease, salt: str) -> list[list[Histogram]]:
        """For each database, the counts of cells of each selection; `totals` has to run before."""
        histograms: list[list[Histogram]] = [[] for _ in range(self.count)]
        for histogram in release.step.query.histograms:
            for own in histograms:
                own.append({})
            rows = self._everywhere(histogram.sql, [salt] * histogram.salted)
            for world, *key, cell, count in rows:
                cells = histograms[world][-1].setdefault(tuple(key), {})
                assert cell not in cells, "a cell came twice"
                cells[cell] = count
        return histograms

    def run(self, sql: str) -> list[list[tuple[object, ...]]]:
        """The rows that plain DuckDB answers `sql` with, in each database."""
        answers: list[list[tuple[object, ...]]] = [[] for _ in range(self.count)]
        for world, *row in self._everywhere(sql, []):
            answers[world].append(tuple(row))
        return answers

    def create_views(self, query: EngineQuery, released: Released = NO_TABLES) -> None:
        """Make the key domains and `released` tables visible that `query` reads."""
        self._offered = {d.name: domain_table(d) for d in query.domains} | dict(released)
        for name, table in self._offered.items():
            self.connection.register(name, table)

    def load(self, world: int) -> None:
        """Make unqualified names mean the tables of the database `world`."""
        if world not in self._entered:
            self._entered.add(world)
            self.connection.execute(f'CREATE SCHEMA "w{world}"')
            for table in self.schema.tables.values():
                view = f'CREATE VIEW "w{world}"."{table.name}" AS {_rows(table, str(world))}'
                self.connection.execute(view)
        self.connection.execute(f"SET schema = 'w{world}'")

    def _everywhere(self, sql: str, salt: list[str]) -> list[tuple[Any, ...]]:
        tables = ", ".join(
            f'"{table.name}" AS NOT MATERIALIZED ({_rows(table, chr(34) + "#w" + chr(34) + ".id")})'
            for table in self.schema.tables.values()
        )
        everywhere = (
            f'SELECT "#w".id, "#r".* FROM "{_BASE}"."#worlds" AS "#w", '
            f'LATERAL (WITH {tables} SELECT * FROM ({sql})) AS "#r"'
        )
        try:
            return self.connection.execute(everywhere, salt).fetchall()
        except duckdb.Error:
            # DuckDB 2.0 fails with an internal error on some lateral joins of anti-joins, and the
            # database is of no use afterwards: it is created anew, and queried world by world.
            self._entered = set()
            self.connection = self._create()
            return self._one_by_one(sql, salt)

    def _one_by_one(self, sql: str, salt: list[str]) -> list[tuple[Any, ...]]:
        answers: list[tuple[Any, ...]] = []
        for world in range(self.count):
            self.load(world)
            try:
                rows = self.connection.execute(sql, salt).fetchall()
            except duckdb.Error as fault:
                raise StatementFails(world, str(fault)) from fault
            answers += ((world, *row) for row in rows)
        return answers

    def _create(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config={"threads": 1})
        configure(connection)
        connection.execute("SET GLOBAL enable_external_access = false")
        connection.execute(f'CREATE SCHEMA "{_BASE}"')
        for table in self.schema.tables.values():
            name = table.name
            if isinstance(table.ownership, Public):
                rows = [(0, row) for row in self._public.get(name, ())]
            else:
                rows = [(n, row) for n, piece in enumerate(self._pieces) for row in piece[name]]
            _create(connection, table, rows)
        held = [(n, piece) for n, own in enumerate(self._members) for piece in own]
        columns = {"world": [n for n, _ in held], "piece": [piece for _, piece in held]}
        _copy(connection, "#members", columns)
        _copy(connection, "#worlds", {"id": list(range(self.count))})
        for name, offered in self._offered.items():
            connection.register(name, offered)
        return connection


def _create(
    connection: duckdb.DuckDBPyConnection, table: Table, rows: list[tuple[int, tuple[object, ...]]]
) -> None:
    columns = "".join(f', "{c.name}" {c.type}' for c in table.columns.values())
    connection.execute(f'CREATE TABLE "{_BASE}"."{table.name}" ("#piece" BIGINT{columns})')
    if rows:
        values = ([row[n] for _, row in rows] for n in range(len(table.columns)))
        # A list for each column: a parameter for each value takes five times as long to bind.
        each = ", ".join(["unnest(?)"] * (len(table.columns) + 1))
        into = f'INSERT INTO "{_BASE}"."{table.name}" SELECT {each}'
        connection.execute(into, [[piece for piece, _ in rows], *values])


def _copy(connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, list[int]]) -> None:
    fields = pa.schema([(column, pa.int64()) for column in columns])
    connection.register("#copied", pa.table(columns, fields))
    connection.execute(f'CREATE TABLE "{_BASE}"."{name}" AS FROM "#copied"')
    connection.unregister("#copied")


def _rows(table: Table, world: str) -> str:
    """SQL for the rows of `table` in one database."""
    columns = ", ".join(f'r."{name}"' for name in table.columns)
    rows = f'SELECT {columns} FROM "{_BASE}"."{table.name}" AS r'
    if isinstance(table.ownership, Public):
        return rows
    return f'{rows} JOIN "{_BASE}"."#members" AS m ON m.piece = r."#piece" WHERE m.world = {world}'
