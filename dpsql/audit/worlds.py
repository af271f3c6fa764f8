"""Many databases of one schema side by side in one engine, asked all at once.

The very SQL of a release runs in a lateral join with the list of databases, each scan seeing the
rows of one of them: hundreds of neighbours cost about as much as one. `enter` shows a single one,
for what runs the SQL as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import duckdb
import pyarrow as pa

from dpsql.audit.owner import Rows
from dpsql.engine.lockdown import prepare
from dpsql.plan.query import EngineQuery
from dpsql.release.key import domain_table
from dpsql.schema.model import Public, Schema, Table
from dpsql.session.prepared import PreparedRelease

Groups = dict[tuple[object, ...], tuple[int, ...]]
"""The integers of each group, before noise."""

Histogram = dict[tuple[object, ...], dict[int, int]]
"""The rows of each group in each cell of a selection."""

Released = Mapping[str, pa.Table]
NO_TABLES: Released = MappingProxyType({})

_BASE = "#base"


class Worlds:
    """Databases, made of pieces: database n holds the pieces `members[n]`, and all public rows.

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
        self.connection = duckdb.connect(config={"threads": 1})
        prepare(self.connection)
        self.connection.execute("SET GLOBAL enable_external_access = false")
        self.connection.execute(f'CREATE SCHEMA "{_BASE}"')
        for table in schema.tables.values():
            if isinstance(table.ownership, Public):
                self._create(table, ((0, row) for row in public.get(table.name, ())))
            else:
                rows = ((n, row) for n, piece in enumerate(pieces) for row in piece[table.name])
                self._create(table, rows)
        held = [(n, piece) for n, own in enumerate(members) for piece in own]
        columns = {"world": [n for n, _ in held], "piece": [piece for _, piece in held]}
        self._copy("#members", pa.table(columns, _members(["world", "piece"])))
        self._copy("#worlds", pa.table({"id": list(range(len(members)))}, _members(["id"])))
        self._entered: set[int] = set()

    @classmethod
    def apart(cls, schema: Schema, public: Rows, databases: Sequence[Rows]) -> Self:
        """Databases that share nothing but their public rows."""
        return cls(schema, public, databases, [[n] for n in range(len(databases))])

    def totals(
        self, release: PreparedRelease, salt: str, released: Released = NO_TABLES
    ) -> list[Groups]:
        """What the engine finds for `release` in each database; `released` are tables it reads."""
        query, found = release.step.query, [Groups() for _ in range(self.count)]
        self.offer(query, {name: released[name] for name in release.step.reads})
        count = len(release.step.bounded.terms.statistics)
        if not count:
            return found
        for world, *row in self._everywhere(query.sql, [salt] * query.salted):
            key = tuple(row[: len(row) - count])
            assert key not in found[world], "a group came twice"
            found[world][key] = tuple(map(int, row[len(row) - count :]))
        return found

    def histograms(self, release: PreparedRelease, salt: str) -> list[list[Histogram]]:
        """For each database, each selection's counts of cells; `totals` comes before."""
        found: list[list[Histogram]] = [[] for _ in range(self.count)]
        for histogram in release.step.query.histograms:
            for own in found:
                own.append({})
            rows = self._everywhere(histogram.sql, [salt] * histogram.salted)
            for world, *key, cell, count in rows:
                cells = found[world][-1].setdefault(tuple(key), {})
                assert cell not in cells, "a cell came twice"
                cells[cell] = count
        return found

    def answers(self, sql: str) -> list[list[tuple[object, ...]]]:
        """What plain DuckDB answers to a statement, in each database: for comparison."""
        found: list[list[tuple[object, ...]]] = [[] for _ in range(self.count)]
        for world, *row in self._everywhere(sql, []):
            found[world].append(tuple(row))
        return found

    def offer(self, query: EngineQuery, released: Released = NO_TABLES) -> None:
        """Make what `query` reads beside the databases visible."""
        for domain in query.domains:
            self.connection.register(domain.name, domain_table(domain))
        for name, table in released.items():
            self.connection.register(name, table)

    def enter(self, world: int) -> None:
        """Let unqualified names mean the tables of one database."""
        if world not in self._entered:
            self._entered.add(world)
            self.connection.execute(f'CREATE SCHEMA "w{world}"')
            for table in self.schema.tables.values():
                made = f'CREATE VIEW "w{world}"."{table.name}" AS {_rows(table, str(world))}'
                self.connection.execute(made)
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
        return self.connection.execute(everywhere, salt).fetchall()

    def _create(self, table: Table, rows: Iterable[tuple[int, tuple[object, ...]]]) -> None:
        columns = "".join(f', "{c.name}" {c.type}' for c in table.columns.values())
        made = f'CREATE TABLE "{_BASE}"."{table.name}" ("#piece" BIGINT{columns})'
        self.connection.execute(made)
        found = list(rows)
        if found:
            marks = f"({', '.join('?' * (len(table.columns) + 1))})"
            values = [value for piece, row in found for value in (piece, *row)]
            into = f'INSERT INTO "{_BASE}"."{table.name}" VALUES {", ".join([marks] * len(found))}'
            self.connection.execute(into, values)

    def _copy(self, name: str, table: pa.Table) -> None:
        self.connection.register("#copied", table)
        self.connection.execute(f'CREATE TABLE "{_BASE}"."{name}" AS FROM "#copied"')
        self.connection.unregister("#copied")


def _rows(table: Table, world: str) -> str:
    """SQL for the rows of `table` in one database."""
    columns = ", ".join(f'r."{name}"' for name in table.columns)
    rows = f'SELECT {columns} FROM "{_BASE}"."{table.name}" AS r'
    if isinstance(table.ownership, Public):
        return rows
    return f'{rows} JOIN "{_BASE}"."#members" AS m ON m.piece = r."#piece" WHERE m.world = {world}'


def _members(names: list[str]) -> pa.Schema:
    return pa.schema([(name, pa.int64()) for name in names])
