"""Neighbouring databases side by side in one engine, made once for all queries of a schema."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

import duckdb
import pyarrow as pa
from grammar.compiler import schema_of
from grammar.exact import exact_table
from grammar.observe import Groups, Histogram, check, check_histograms, histograms, totals
from grammar.public_rows import PUBLIC, create_tables
from grammar.worlds import Rows, Unit, neighbours

from dpsql.session.prepared import Prepared, PreparedRelease
from dpsql.stability.lineage import unit_kind

SALTS = ("1", "2")

Released = Mapping[str, pa.Table]

WORLDS = int(os.environ.get("DPSQL_WORLDS", "6"))
"""Random databases for each schema; each has three or four neighbours."""


@dataclass(frozen=True)
class Pair:
    """The namespaces of a database and of the same without `unit`; `rows` are the full one's."""

    world: int
    full: str
    without: str
    unit: Unit
    rows: Rows


@dataclass(frozen=True)
class Search:
    """All pairs of one schema, and the engine that holds them."""

    connection: duckdb.DuckDBPyConnection
    pairs: tuple[Pair, ...]

    def of(self, worlds: range) -> Search:
        """The pairs of some of the databases only."""
        return Search(self.connection, tuple(p for p in self.pairs if p.world in worlds))

    def relevant(self, kind: str) -> list[Pair]:
        """The pairs whose unit is of `kind`: no other unit's rows are read."""
        return [p for p in self.pairs if kind in (p.unit[0], f"row of {p.unit[1]}")]

    def totals(
        self,
        world: str,
        release: PreparedRelease,
        salt: str,
        released: Mapping[str, pa.Table],
    ) -> Groups:
        """The integers of each group, before noise, in one database."""
        self.connection.execute(f"SET schema = '{world}'")
        return totals(self.connection, release, salt, released)

    def histograms(self, world: str, release: PreparedRelease, salt: str) -> list[Histogram]:
        """The rows in each cell of each group, in one database; `totals` comes before."""
        self.connection.execute(f"SET schema = '{world}'")
        return histograms(self.connection, release, salt)

    def released(self, world: str, release: PreparedRelease, tables: Released) -> pa.Table:
        """What later releases read of this one: any fixed values will do, the exact ones do."""
        self.connection.execute(f"SET schema = '{world}'")
        return exact_table(self.connection, release, tables)


@cache
def search(name: str, verified: frozenset[str], seed: int = 0) -> Search:
    """Random databases of the fixture `name` whose `verified` keys hold, with all neighbours."""
    schema, public = schema_of(name), PUBLIC[name]
    random = Random(f"{name}{sorted(verified)}{seed}")
    connection = duckdb.connect(config={"threads": 1})
    pairs: list[Pair] = []
    for number in range(WORLDS):
        full = f"w{number}"
        for place, pair in enumerate(neighbours(schema, public, random, verified)):
            if place == 0:
                create_tables(connection, schema, _shuffled(pair.full, random), full)
            without = f"{full}_{place}"
            create_tables(connection, schema, _shuffled(pair.without, random), without)
            pairs.append(Pair(number, full, without, pair.unit, pair.full))
    return Search(connection, tuple(pairs))


def _shuffled(rows: Rows, random: Random) -> Rows:
    """In an order of their own: nothing may follow from it."""
    return {name: random.sample(found, len(found)) for name, found in rows.items()}


def attack(ready: Prepared, found: Search, sql: str) -> None:
    """Every release of a statement, on every pair of neighbours: no more changes than derived.

    A release that reads another is held to its bound for fixed values of that one.
    """
    tables: dict[str, pa.Table] = {}
    for release in ready.releases:
        pairs = found.relevant(unit_kind(release.release.source) or "")
        assert pairs
        worlds = dict.fromkeys(w for pair in pairs for w in (pair.full, pair.without))
        terms, query = release.step.bounded.terms, release.step.query
        if terms.statistics or terms.selections:
            salted = query.salted or any(h.salted for h in query.histograms)
            for salt in SALTS if salted else SALTS[:1]:
                seen = {w: found.totals(w, release, salt, tables) for w in worlds}
                cells = {w: found.histograms(w, release, salt) for w in worlds}
                for pair in pairs:
                    where = f"{sql}\nwithout {pair.unit} of {pair.rows}"
                    check(seen[pair.full], seen[pair.without], release, where)
                    check_histograms(cells[pair.full], cells[pair.without], release, where)
        tables[release.name] = found.released(pairs[0].full, release, tables)
