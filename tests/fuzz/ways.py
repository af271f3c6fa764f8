"""All ways to the integers of a release: plain, with verified keys, by a sidecar, in parts.

Each way has a name. A statement that fails has failed in all databases and by all ways, or whether
it does tells of somebody: so a failure is an outcome like the integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

import duckdb
import pyarrow as pa
from neighbor_search.public_rows import create_tables
from neighbor_search.sidecar import ReadyFacts
from notes.exact import exact_table
from physical.strategies import by_all_other_strategies, with_query

from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.bounding.options import ContributionLimits
from dpsql.engine.duckdb.lockdown import configure as fix_meaning
from dpsql.engine.sidecar.contents import SIDECAR
from dpsql.engine.sidecar.file import fill
from dpsql.errors import Error, SourceFault
from dpsql.physical.modifier.sidecar_access import without_sidecar
from dpsql.physical.numbered_rows import numbered_rows
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByRank,
    ByStoredRank,
    Limited,
    LimitGroups,
    integer_parts,
)
from dpsql.plan.bounded_release.engine_query import (
    HASH_SPACE,
    EngineQuery,
    Histogram,
    UnlimitedQuery,
)
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.options import QueryOptions
from dpsql.session.sidecar import sidecar_tables

SALT: Final = "1"
PARTS: Final = 3

Answered = list[tuple[object, ...]]

Outcome = tuple[Groups, ...] | None
"""The integers of a release and of each of its histograms, by group; None if a statement failed."""


@dataclass(frozen=True)
class Way:
    """What is run, and whether it draws a unit's groups as the plain way does."""

    name: str
    release: CompiledRelease
    in_parts: bool = False
    limited: Limited | None = None
    unlimited: UnlimitedQuery | None = None
    """What is run in place of it where no limit can bind any unit."""

    @property
    def draws(self) -> str:
        """How groups are drawn: by a hash of each, by one of their numbers, or once for a file.

        Empty where none is left out.
        """
        match self.limited_groups:
            case LimitGroups(limit=ByStoredRank()):
                return "once"
            case LimitGroups(limit=ByRank()):
                return "numbers"
            case LimitGroups(limit=ByHash()):
                return "hashes"
            case _:
                return ""

    @property
    def draws_rows(self) -> str:
        """How a unit's rows are drawn where cells are chosen by them: by hashes, or for a file."""
        choices = self.release.step.bounded.contributions.cell_choices
        if not choices:
            return ""
        return "hashes" if numbered_rows(self.limited_groups, 0) is None else "once"

    @property
    def limited_groups(self) -> Limited:
        """How a unit's groups and rows are limited."""
        return self.release.choice.limited if self.limited is None else self.limited


class Proofs:
    """What is proved of queries about `schema`, where the keys of `holds` are verified."""

    def __init__(self, schema: Schema, rows: Rows, holds: frozenset[str]) -> None:
        self.schema = schema
        self.connection = duckdb.connect(config={"threads": 1})
        create_tables(self.connection, schema, {"facts": rows["facts"]})
        ready = frozenset(c.name for c in sidecar_tables(schema, holds))
        self._facts = {
            "plain": ReadyFacts(schema, self.connection, frozenset()),
            "verified": ReadyFacts(schema, self.connection, holds),
            "prepared": ReadyFacts(schema, self.connection, holds, ready),
        }

    def ways(self, sql: str, limits: ContributionLimits) -> list[list[Way]]:
        """For each release all ways to it; none if the query is refused."""
        found = []
        for name, facts in self._facts.items():
            try:
                granted = query_loss(self.schema, Fraction(1))
                found.append(
                    [
                        Way(name, release)
                        for release in compile_sql(
                            sql,
                            self.schema,
                            facts,
                            granted,
                            "data",
                            options=QueryOptions(limits=limits),
                        ).releases
                    ]
                )
            except Error:
                return []
        return [list(_all(list(ways))) for ways in zip(*found, strict=True)]

    def answer(self, sql: str, database: Database) -> Answered | None:
        """The answer without noise; None if it is refused."""
        try:
            granted = query_loss(self.schema, Fraction(1))
            facts = self._facts["prepared"]
            ready = compile_sql(sql, self.schema, facts, granted, "data")
        except Error:
            return None
        tables: dict[str, pa.Table] = {}
        for release in ready.releases:
            tables[release.name] = exact_table(database.connection, release, tables, salt=SALT)
            database.connection.register(release.name, tables[release.name])
        return database.plain(ready.postprocessing_sql)


def _all(ways: list[Way]) -> Iterator[Way]:
    for way in ways:
        yield way
        batches = way.release.step.batches
        if way.name != "verified" and batches is not None:
            parted = with_query(way.release, batches.query)
            yield Way(f"{way.name}, in parts", parted, in_parts=True)
        for name, other in by_all_other_strategies(way.release):
            yield Way(f"{way.name}, by {name}", other)
    *_, last = ways
    unlimited = last.release.step.unlimited
    if unlimited is not None:
        yield Way("prepared, where no limit binds", last.release, unlimited=unlimited)
    fallback = last.release.step.without_sidecar
    if fallback is not None:
        gone = with_query(last.release, fallback.query)
        limited = without_sidecar(last.release.step.bounded.limited)
        yield Way("prepared, without its file", gone, limited=limited)


@contextmanager
def database(schema: Schema, rows: Rows, holds: frozenset[str]) -> Iterator[Database]:
    """`rows` with the sidecar that is made of them; refused is what would multiply them."""
    with closing(duckdb.connect(config={"threads": 1})) as connection:
        fix_meaning(connection)
        create_tables(connection, schema, rows)
        connection.execute(f"ATTACH ':memory:' AS \"{SIDECAR}\"")
        try:
            fill(connection, "", sidecar_tables(schema, holds), SALT, lambda _: None)
        except SourceFault as error:
            raise AssertionError(f"other integers than without a sidecar: {error}") from None
        yield Database(connection)


@dataclass(frozen=True)
class Database:
    """One database that any way can be asked in."""

    connection: duckdb.DuckDBPyConnection

    def found(self, way: Way) -> Outcome:
        """The integers by one way."""
        step, unlimited = way.release.step, way.unlimited
        if unlimited is not None and not self.plain(unlimited.limited_rows):
            step = with_query(way.release, unlimited.query).step
        for domain in step.query.domains:
            self.connection.register(domain.name, domain_table(domain))
        texts: list[tuple[EngineQuery | Histogram, int]] = []
        if step.bounded.contributions.statistics:
            texts.append((step.query, len(step.bounded.contributions.statistics)))
        texts += [(histogram, 1) for histogram in step.query.histograms]
        try:
            return tuple(self._groups(text, count, way) for text, count in texts)
        except duckdb.Error:
            return None

    def _groups(self, asked: EngineQuery | Histogram, count: int, way: Way) -> Groups:
        if way.in_parts and asked.summed is not None:
            found = []
            for part in range(PARTS):
                ends = HASH_SPACE * part // PARTS, HASH_SPACE * (part + 1) // PARTS - 1
                found += self.connection.execute(asked.sql, [SALT, *ends]).fetchall()
            return _summed(found, count)
        rows = self.connection.execute(asked.sql, [SALT] * asked.salted).fetchall()
        groups = _summed(rows, count)
        assert len(groups) == len(rows), "a group came twice"
        return groups

    def plain(self, sql: str) -> Answered | None:
        """What DuckDB answers to plain SQL."""
        try:
            return self.connection.execute(sql).fetchall()
        except duckdb.Error:
            return None


def _summed(rows: list[tuple[object, ...]], count: int) -> Groups:
    found: Groups = {}
    for row in rows:
        key = tuple(map(told_value, row[: len(row) - count]))
        old = found.get(key, (0,) * count)
        sums = map(_whole, row[len(row) - count :])
        found[key] = tuple(a + b for a, b in zip(old, sums, strict=True))
    return found


def _whole(value: object) -> int:
    assert isinstance(value, int | Decimal), value
    return int(value)


def told_value(value: object) -> object:
    """NaN equals nothing, and a group of it would be another each time."""
    return "NaN" if value != value else value  # noqa: PLR0124


def number(value: object) -> Fraction:
    """What a value of an answer is worth; nothing is 0."""
    return Fraction(0) if value is None else Fraction(str(value))


@contextmanager
def plain(schema: Schema, rows: Rows) -> Iterator[Database]:
    """`rows` for plain SQL."""
    with closing(duckdb.connect(config={"threads": 1})) as connection:
        fix_meaning(connection)
        create_tables(connection, schema, rows)
        yield Database(connection)


def in_ones(way: Way, outcome: tuple[Groups, ...]) -> list[Mapping[tuple[object, ...], object]]:
    """The integers of `outcome` in ones, without groups of zeros.

    Where a unit's groups are scaled they are parts of one; a key by which it has one group at most,
    once it is verified, saves that. What is chosen by cells counts rows.
    """
    parts = integer_parts(way.limited_groups)
    has_sums = bool(way.release.step.bounded.contributions.statistics)
    return [
        {
            key: tuple(Fraction(value, 1 if number or not has_sums else parts) for value in values)
            for key, values in without_zeros(groups).items()
        }
        for number, groups in enumerate(outcome)
    ]


def without_zeros(groups: Groups) -> Mapping[tuple[object, ...], tuple[int, ...]]:
    """A group of zeros is as if it weren't there."""
    return {key: values for key, values in groups.items() if any(values)}
