"""Neighbouring databases side by side in one engine, made once for all queries of a schema."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import assert_never

import pyarrow as pa
from neighbor_search import alert_search, dashboard_search, decision_search, mwem_search
from neighbor_search.public_rows import PUBLIC
from notes.compiler import schema_of
from notes.exact import exact_table, raw_groups

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.databases.database_batch import DatabaseBatch, Groups, Released, StatementFails
from dpsql.audit.databases.random_databases import neighboring_databases
from dpsql.audit.databases.unit_ownership import Rows, Unit
from dpsql.audit.sensitivity.bound_check import cell_violations, violations
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease

SALTS = ("1", "2")

WORLDS = int(os.environ.get("DPSQL_WORLDS", "6"))
"""Random databases for each schema; each has three or four neighbours."""


@dataclass(frozen=True)
class Pair:
    """The numbers of two neighbours that lack some units of `rows` each; `unit` is one of them.

    `world` counts the databases that were drawn, without their neighbours.
    """

    world: int
    one: int
    other: int
    unit: Unit
    lacks: tuple[frozenset[Unit], frozenset[Unit]]
    rows: Rows


@dataclass(frozen=True)
class Search:
    """All pairs of one schema, and the engine that holds them."""

    worlds: DatabaseBatch
    pairs: tuple[Pair, ...]

    def of(self, worlds: range) -> Search:
        """The pairs of some of the databases only."""
        return Search(self.worlds, tuple(p for p in self.pairs if p.world in worlds))

    def relevant(self, kind: str) -> list[Pair]:
        """The pairs whose unit is of `kind`: no other unit's rows are read."""
        return [p for p in self.pairs if kind in (p.unit[0], f"row of {p.unit[1]}")]

    def released(self, world: int, release: CompiledRelease, tables: Released) -> pa.Table:
        """What later releases read of this one: any fixed values will do, the exact ones do."""
        self.worlds.load(world)
        return exact_table(self.worlds.connection, release, tables)

    def alone(self, world: int, release: CompiledRelease, salt: str) -> Groups:
        """What the engine finds in one database, by the SQL as it is; `totals` comes before."""
        self.worlds.load(world)
        raw = raw_groups(self.worlds.connection, release, salt).totals
        rows = [tuple(row.values()) for row in raw.to_pylist()]
        count = len(release.step.bounded.contributions.statistics)
        return {row[: len(row) - count]: tuple(map(int, row[len(row) - count :])) for row in rows}


@cache
def search(
    name: str,
    verified: frozenset[str],
    seed: int = 0,
    apart: NeighborDistance | None = None,
    databases: int = WORLDS,
) -> Search:
    """Random databases of the fixture `name` whose `verified` keys hold, with all neighbours.

    They are as far `apart` as the fixture says, if nothing else is said.
    """
    return one_of(name, verified, Random(f"{name}{sorted(verified)}{seed}"), databases, apart)


def one_of(
    name: str,
    verified: frozenset[str],
    random: Random,
    databases: int,
    apart: NeighborDistance | None = None,
) -> Search:
    """So many random databases with all their neighbours."""
    schema, public = schema_of(name), PUBLIC[name]
    found: list[Rows] = []
    pairs: list[Pair] = []
    for number in range(databases):
        numbers: dict[frozenset[Unit], int] = {}
        for pair in neighboring_databases(
            schema, public, random, verified, apart or schema.neighbor_distance
        ):
            for lacking, rows in zip(pair.lacks, pair.pair, strict=True):
                if lacking not in numbers:
                    numbers[lacking] = len(found)
                    found.append(_shuffled(rows, random))
            one, other = (numbers[lacking] for lacking in pair.lacks)
            pairs.append(Pair(number, one, other, pair.unit, pair.lacks, pair.full))
    return Search(DatabaseBatch.separately(schema, public, found), tuple(pairs))


def _shuffled(rows: Rows, random: Random) -> Rows:
    """In an order of their own: nothing may follow from it."""
    return {name: random.sample(found, len(found)) for name, found in rows.items()}


def attack(ready: CompiledStatement, found: Search, sql: str) -> None:
    """Every release of a statement, on every pair of neighbours: no more changes than derived.

    A release that reads another is held to its bound for fixed values of that one.
    """
    tables: dict[str, pa.Table] = {}
    for release in ready.releases:
        pairs = found.relevant(unit_kind(release.release.source) or "")
        assert pairs
        terms, query = release.step.bounded.contributions, release.step.query
        if terms.statistics or terms.cell_choices:
            salted = query.salted or any(h.salted for h in query.histograms)
            for salt in SALTS if salted else SALTS[:1]:
                try:
                    seen = found.worlds.totals(release, salt, tables)
                    cells = found.worlds.histograms(release, salt)
                except StatementFails as failure:
                    raise AssertionError(f"{sql}\nfails: {failure}") from failure
                for pair in pairs:
                    where = f"{sql}\nwithout {pair.lacks} of {pair.rows}"
                    of = seen[pair.one], seen[pair.other], release, release.sensitivity
                    in_cells = cells[pair.one], cells[pair.other], *of[2:]
                    for fault in (*violations(*of), *cell_violations(*in_cells)):
                        raise AssertionError(f"{fault}: {where}")
                # All databases at once are asked in a lateral join; that changes no answer.
                one = pairs[len(sql) % len(pairs)].one
                if terms.statistics:
                    assert found.alone(one, release, salt) == seen[one], sql
        if release.step.measurement.table_mechanism is not None:
            for pair in pairs:
                groups = seen[pair.one], seen[pair.other]
                for fault in _told_apart(*groups, release):
                    raise AssertionError(f"{fault}: {sql}\nwithout {pair.lacks} of {pair.rows}")
            if isinstance(release.step.measurement.table_mechanism, ThresholdStream):
                # Each pair is a version of the data, with the same units; in one they have no rows.
                without = seen[pairs[0].one]
                versions = [(seen[pair.one], seen[pair.other]) for pair in pairs]
                versions.append((without, without))
                for fault in alert_search.told_apart_over_time(versions, release):
                    raise AssertionError(f"{fault}: {sql}\nin {len(versions)} versions of the data")
            continue
        tables[release.name] = found.released(pairs[0].one, release, tables)


def _told_apart(one: Groups, other: Groups, release: CompiledRelease) -> Iterator[str]:
    """Every way in which a table that is made as a whole shows more than it costs."""
    match release.step.measurement.table_mechanism:
        case MwemParameters():
            return mwem_search.told_apart(one, other, release)
        case MarginalNoise():
            return dashboard_search.told_apart(one, other, release)
        case WeightedMajority():
            return decision_search.told_apart(one, other, release)
        case AboveThreshold() | ThresholdStream():
            return alert_search.told_apart(one, other, release)
        case None:
            return iter(())
        case missing:
            assert_never(missing)
