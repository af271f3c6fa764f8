"""Neighbouring databases, each with a sidecar of its own made with one salt, and what they say."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import duckdb
from neighbor_search.public_rows import PUBLIC, create_tables, public_connection
from neighbor_search.search import Pair, Search, search
from notes.compiler import schema_of
from physical.strategies import with_query

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import Groups, Histogram
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.engine.duckdb.lockdown import configure as fix_meaning
from dpsql.engine.sidecar import file
from dpsql.engine.sidecar.contents import SIDECAR
from dpsql.engine.sidecar.file import fill
from dpsql.engine.sidecar.range_check import WholeTable, of_whole_table
from dpsql.engine.sidecar.row_columns import SidecarTable, out_of_range_column
from dpsql.errors import Error
from dpsql.physical.numbered_rows import numbered_rows
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.split_in_group_by import SplitInGroupBy
from dpsql.physical.strategy.stored_unit_sums import StoredUnitSums
from dpsql.plan.bounded_release.bounded_release import ByStoredRank, Cell, LimitGroups
from dpsql.plan.operator import Plan
from dpsql.privacy.over_groups import OverGroups
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.model import Table
from dpsql.session.compile.compiled import CompiledStatement, compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.options import QueryOptions
from dpsql.session.sidecar import sidecar_tables

LIMITS = {
    "all": AS_DECLARED,
    "narrow": ContributionLimits(groups=2, rows_per_group=1, rows=3),
    # All groups are kept, and of most units some are light.
    "few": ContributionLimits(rows_per_group=1),
    # A unit's groups could hold more of its rows than count in all of them.
    "few in all": ContributionLimits(rows_per_group=2, rows=3),
    # Also units of few rows are bound by it, and those of none that a limit on rows binds.
    "capped": ContributionLimits(unit_sum=Fraction(7, 2)),
    # Units in both groups and more count in all of them, and less in each.
    "scaled": ContributionLimits(groups=2, rows_per_group=2, over_groups=OverGroups.SCALE),
}

_SALT = "1"


class ReadyFacts(WorldFacts, frozen=True):
    """The same public facts where `ready` tables stand in a sidecar."""

    ready: frozenset[str] = frozenset()

    def in_sidecar(self, table: Table) -> bool:
        return table.name in self.ready

    def rows(self, plan: Plan, limit: int) -> tuple[Cell, ...] | None:
        # In one order, so that a group has one number: by it a unit's groups are chosen.
        found = WorldFacts.rows(self, plan, limit)
        return None if found is None else tuple(sorted(found, key=repr))


def private(name: str) -> frozenset[str]:
    return frozenset(schema_of(name).tables) - frozenset(PUBLIC[name])


def attack(sql: str, name: str, limits: ContributionLimits, databases: int) -> None:
    """Each release that is summed in two parts, on every pair of neighbours whose keys hold."""
    known = private(name)
    try:
        as_it_is = proved(sql, name, known, limits, ready=False)
    except Error:
        return  # refused under narrow limits, say
    ready = proved(sql, name, known, limits, ready=True)
    for one, other in zip(as_it_is.releases, ready.releases, strict=True):
        assert (one.key, one.sensitivity) == (other.key, other.sensitivity)
        if is_split(other) and not other.step.reads:
            worlds = ReadyWorlds(name, known, databases)
            _attack(one, other, worlds, sql)
            _attack_unlimited(other, worlds, sql)


def is_split(release: CompiledRelease) -> bool:
    """Units that no limit can bind, or rows that stand for one, are told by what is stored."""
    plan = release.choice.plan
    if isinstance(plan, CountUnitsFirst):
        return plan.value_rows is not None
    return isinstance(plan, SplitByContribution | SplitInGroupBy | StoredUnitSums)


def has_stored_ranks(release: CompiledRelease) -> bool:
    """A unit's groups were chosen once, when the sidecar was made."""
    limited = release.step.bounded.limited
    return isinstance(limited, LimitGroups) and isinstance(limited.limit, ByStoredRank)


def has_numbered_rows(release: CompiledRelease) -> bool:
    """A unit's rows that count in cells were drawn once, when the sidecar was made."""
    choices = range(len(release.step.bounded.contributions.cell_choices))
    return any(numbered_rows(release.choice.limited, number) is not None for number in choices)


def proved(
    sql: str, name: str, verified: frozenset[str], limits: ContributionLimits, *, ready: bool
) -> CompiledStatement:
    """`sql` about the fixture `name`, over its sidecar or not."""
    schema = schema_of(name)
    tables = [c.name for c in sidecar_tables(schema, verified)] if ready else []
    facts = ReadyFacts(schema, public_connection(name), verified, frozenset(tables))
    return compile_sql(
        sql,
        schema,
        facts,
        query_loss(schema, Fraction(1)),
        "data",
        options=QueryOptions(limits=limits),
    )


@cache
def _engine(name: str, verified: frozenset[str], world: int) -> duckdb.DuckDBPyConnection:
    """One of the databases of a search, with the sidecar that `_SALT` makes of it.

    It is told that all values are within their bounds, so that each row is asked.
    """
    schema = schema_of(name)
    connection = duckdb.connect(config={"threads": 1})
    fix_meaning(connection)
    create_tables(connection, schema, _rows(search(name, verified), world))
    connection.execute(f"ATTACH ':memory:' AS \"{SIDECAR}\"")
    tables = sidecar_tables(schema, verified)
    with patch.object(file, "of_whole_table", all_within_bounds):
        fill(connection, "", tables, _SALT, lambda _: None)
    return connection


def all_within_bounds(connection: duckdb.DuckDBPyConnection, contents: SidecarTable) -> WholeTable:
    """What is said of a whole table, and, whatever it holds, that all values are within bounds."""
    within = {out_of_range_column(column): 0 for column, _ in contents.range_checked_columns}
    return {**of_whole_table(connection, contents), **within}


def own_database(name: str, verified: frozenset[str], world: int) -> duckdb.DuckDBPyConnection:
    """A database of a search, with its sidecar, that a test may change."""
    return _engine.__wrapped__(name, verified, world)


@dataclass(frozen=True)
class ReadyWorlds:
    """The first databases of a search, each in an engine that all tests of the fixture share."""

    name: str
    verified: frozenset[str]
    databases: int

    def pairs(self, kind: str) -> list[Pair]:
        """The neighbours that lack a unit of `kind`."""
        found = search(self.name, self.verified)
        return found.of(range(self.databases)).relevant(kind)

    def totals(self, world: int, release: CompiledRelease, salt: str) -> Groups:
        """The integers of each group."""
        query, connection = release.step.query, self._connection(world, release)
        count = len(release.step.bounded.contributions.statistics)
        if not count:
            return {}
        rows = connection.execute(query.sql, [salt] * query.salted).fetchall()
        groups = {r[: len(r) - count]: tuple(map(int, r[len(r) - count :])) for r in rows}
        assert len(groups) == len(rows), "a group came twice"
        return groups

    def cells(self, world: int, release: CompiledRelease, salt: str) -> list[Histogram]:
        """The counts of cells, for each choice; those of 0 rows say no more than those not there.

        A cell that a unit beyond a limit has rows in, and of which none are drawn, is among what is
        counted from sums of its rows, and isn't where its rows are drawn one by one.
        """
        connection = self._connection(world, release)
        found: list[Histogram] = []
        for each in release.step.query.histograms:
            groups: Histogram = defaultdict(dict)
            for *group, cell, count in connection.execute(
                each.sql, [salt] * each.salted
            ).fetchall():
                if count:
                    groups[tuple(group)][cell] = int(count)
            found.append(groups)
        return found

    def has_rows(self, world: int, sql: str) -> bool:
        """Whether a SELECT without parameters has any row."""
        return bool(_engine(self.name, self.verified, world).execute(sql).fetchall())

    def _connection(self, world: int, release: CompiledRelease) -> duckdb.DuckDBPyConnection:
        """The engine of `world`, with the keys that `release` lists."""
        connection = _engine(self.name, self.verified, world)
        for domain in release.step.query.domains:
            connection.register(domain.name, domain_table(domain))
        return connection


def _rows(found: Search, world: int) -> Rows:
    found.worlds.load(world)
    return {
        name: found.worlds.connection.execute(f'FROM "{name}"').fetchall()
        for name in found.worlds.schema.tables
    }


def _attack(
    as_it_is: CompiledRelease, ready: CompiledRelease, tried: ReadyWorlds, sql: str
) -> None:
    drawn, numbered = has_stored_ranks(ready), has_numbered_rows(ready)
    pairs = tried.pairs(unit_kind(ready.release.source) or "")
    numbers = {n for pair in pairs for n in (pair.one, pair.other)}
    found = {n: tried.totals(n, ready, _SALT) for n in numbers}
    cells = {n: tried.cells(n, ready, _SALT) for n in numbers}
    for pair in pairs:
        where = f"{sql}\nwithout {pair.lacks} of {pair.rows}"
        of = ready, ready.sensitivity
        for fault in (
            *violations(found[pair.one], found[pair.other], *of),
            *cell_violations(cells[pair.one], cells[pair.other], *of),
        ):
            raise AssertionError(f"{fault}: {where}")
    if drawn and ready.step.bounded.contributions.domains:
        return  # a listed key's groups are numbered, so that other ones of a unit are drawn
    for n in {pair.one for pair in pairs}:
        same = found[n] == tried.totals(n, as_it_is, _SALT)
        if not same or (not numbered and cells[n] != tried.cells(n, as_it_is, _SALT)):
            raise AssertionError(f"other integers than without a sidecar: {sql}")


def _attack_unlimited(ready: CompiledRelease, tried: ReadyWorlds, sql: str) -> None:
    """What reads no unit that a limit may bind says the same where there is none.

    Where there are some, it isn't run; if it were, one unit would still change no more.
    """
    unlimited = ready.step.unlimited
    if unlimited is None:
        return
    believed = with_query(ready, unlimited.query)
    for pair in tried.pairs(unit_kind(ready.release.source) or ""):
        one, other = (tried.totals(n, believed, _SALT) for n in (pair.one, pair.other))
        for fault in violations(one, other, ready, ready.sensitivity):
            raise AssertionError(f"{fault}: {sql}\nwithout {pair.lacks} of {pair.rows}")
        is_run = not tried.has_rows(pair.one, unlimited.limited_rows)
        if is_run and one != tried.totals(pair.one, ready, _SALT):
            raise AssertionError(f"other integers than of all units: {sql}")
