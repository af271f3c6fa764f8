"""Neighbouring databases, each with a sidecar of its own made with one salt, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import duckdb
from grammar.compiler import schema_of
from grammar.public_rows import create_tables, public_connection
from grammar.search import Search

from dpsql.audit.fact import WorldFacts
from dpsql.audit.owner import Rows
from dpsql.audit.worlds import Groups
from dpsql.engine.beside import beyond_of
from dpsql.engine.lockdown import prepare as fix_meaning
from dpsql.engine.sidecar import PREPARED, fill
from dpsql.plan.bounded import Cell
from dpsql.plan.operator import Plan
from dpsql.release.key import domain_table
from dpsql.rewrite.setting import Settings
from dpsql.schema.model import Table
from dpsql.session.grant import grant
from dpsql.session.prepared import Prepared, PreparedRelease, prepare
from dpsql.session.ready import ready_tables


@dataclass(frozen=True, slots=True)
class ReadyFacts(WorldFacts):
    """The same public facts where `ready` tables stand in a sidecar."""

    ready: frozenset[str] = frozenset()

    def prepared(self, table: Table) -> bool:
        return table.name in self.ready

    def rows(self, plan: Plan, at_most: int) -> tuple[Cell, ...] | None:
        # In one order, so that a group has one number: by it a unit's groups are chosen.
        found = WorldFacts.rows(self, plan, at_most)
        return None if found is None else tuple(sorted(found, key=repr))


def proved(
    sql: str, name: str, verified: frozenset[str], settings: Settings, *, ready: bool
) -> Prepared:
    """`sql` about the fixture `name`, over its sidecar or not."""
    schema = schema_of(name)
    tables = [c.name for c in ready_tables(schema, verified)] if ready else []
    facts = ReadyFacts(schema, public_connection(name), verified, frozenset(tables))
    return prepare(sql, schema, facts, grant(schema, Fraction(1)), "data", settings=settings)


@dataclass(frozen=True)
class ReadyWorlds:
    """The databases of a search, one engine each."""

    found: Search
    connections: Mapping[int, duckdb.DuckDBPyConnection]

    @classmethod
    def of(cls, found: Search, name: str, verified: frozenset[str], salt: str) -> ReadyWorlds:
        """All databases of `found`, each with the sidecar that `salt` makes of it.

        Each is told that all values are within their bounds, so that each row is asked.
        """
        schema = schema_of(name)
        made: dict[int, duckdb.DuckDBPyConnection] = {}
        for world in {n for pair in found.pairs for n in (pair.one, pair.other)}:
            connection = duckdb.connect(config={"threads": 1})
            fix_meaning(connection)
            create_tables(connection, schema, _rows(found, world))
            connection.execute(f"ATTACH ':memory:' AS \"{PREPARED}\"")
            tables = ready_tables(schema, verified)
            fill(connection, "", tables, salt, lambda _: None)
            for table, column in ((t.name, c) for t in tables for c, _ in t.bounded):
                told = f'UPDATE "{PREPARED}"."{table}" SET "{beyond_of(column)}" = 0'
                connection.execute(told)
            made[world] = connection
        return cls(found, made)

    def totals(self, world: int, release: PreparedRelease, salt: str) -> Groups:
        """The integers of each group."""
        query, connection = release.step.query, self.connections[world]
        for domain in query.domains:
            connection.register(domain.name, domain_table(domain))
        rows = connection.execute(query.sql, [salt] * query.salted).fetchall()
        count = len(release.step.bounded.terms.statistics)
        groups = {r[: len(r) - count]: tuple(map(int, r[len(r) - count :])) for r in rows}
        assert len(groups) == len(rows), "a group came twice"
        return groups


def _rows(found: Search, world: int) -> Rows:
    found.worlds.enter(world)
    return {
        name: found.worlds.connection.execute(f'FROM "{name}"').fetchall()
        for name in found.worlds.schema.tables
    }
