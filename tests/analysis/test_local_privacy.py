"""The search for what isn't hidden: counts without noise follow from randomised answers alone.

Of a random database others are made whose rows have the same answers, and anything else beside: a
release without noise has the very same integers in all of them, and no release has that where
units may be missed, or where their number isn't public.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random

import pytest
from neighbor_search.public_rows import PUBLIC, public_connection
from neighbor_search.search import attack, search
from notes.blocks import Claim, accepted
from notes.compiler import prepared, schema_of

from dpsql.audit.databases.database_batch import DatabaseBatch
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.audit.databases.random_databases import neighboring_databases
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.errors import Refused
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Neighbors, Schema
from dpsql.session.compile.compiled import CompiledStatement, compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.structs import replace

pytestmark = pytest.mark.bounds

DATABASES, TWINS = 8, 3


def _has_answers(schema: Schema) -> bool:
    return any(c.local_epsilon for table in schema.tables.values() for c in table.columns.values())


CLAIMS = [claim for claim in accepted() if _has_answers(schema_of(claim.schema))]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_what_has_no_noise_follows_from_randomised_answers(claim: Claim) -> None:
    ready = prepared(claim.sql, claim.schema, claim.verified)
    for release in filter(_is_exact, ready.releases):
        totals = _worlds(claim.schema).totals(release, "1")
        for first in range(0, len(totals), 1 + TWINS):
            for twin in totals[first + 1 : first + 1 + TWINS]:
                if twin != totals[first]:
                    raise AssertionError(f"statistic 0 tells of more than answers: {claim.sql}")


def test_some_releases_have_no_noise() -> None:
    found = [r for c in CLAIMS for r in prepared(c.sql, c.schema, c.verified).releases]
    assert 10 <= sum(map(_is_exact, found)) < len(found)


@pytest.mark.parametrize("neighbors", list(Neighbors), ids=lambda relation: relation.value)
@pytest.mark.parametrize(
    "claim",
    [c for c in CLAIMS if "survey" in c.sql or "readings" in c.sql],
    ids=lambda claim: claim.name,
)
def test_nothing_is_exact_where_units_are_missed_or_not_counted(
    claim: Claim, neighbors: Neighbors
) -> None:
    # No number of rows is declared: units are missed, or replaced among some that nobody counted.
    try:
        ready = _without_number(claim, neighbors)
    except Refused:
        return  # a mean over all rows needs their number
    for release in ready.releases:
        if _is_exact(release):
            raise AssertionError(f"statistic 0 has no noise: {claim.sql}")
    found = search(claim.schema, claim.verified, 1, neighbors.distance(1))
    attack(ready, found.of(range(2)), claim.sql)


def _is_exact(release: CompiledRelease) -> bool:
    """Private rows are read, and nothing is charged for it."""
    statistics = release.step.bounded.contributions.statistics
    return bool(statistics) and not release.step.measurement.loss.amount


def _without_number(claim: Claim, neighbors: Neighbors) -> CompiledStatement:
    schema = schema_of(claim.schema)
    tables = {name: replace(table, rows=None) for name, table in schema.tables.items()}
    found = replace(schema, neighbors=neighbors, tables=tables)
    facts = WorldFacts(found, public_connection(claim.schema), claim.verified)
    return compile_sql(claim.sql, found, facts, query_loss(found, Fraction(1)), "data")


@cache
def _worlds(name: str) -> DatabaseBatch:
    """Databases, each followed by its twins."""
    schema, random = schema_of(name), Random(f"answers of {name}")
    found: list[Rows] = []
    for _ in range(DATABASES):
        rows = _database(schema, name, random)
        found += [rows, *(_twin(schema, name, rows, random) for _ in range(TWINS))]
    return DatabaseBatch.separately(schema, PUBLIC[name], found)


def _database(schema: Schema, name: str, random: Random) -> Rows:
    return next(
        neighboring_databases(schema, PUBLIC[name], random, frozenset(), NeighborDistance())
    ).full


def _twin(schema: Schema, name: str, rows: Rows, random: Random) -> Rows:
    """The same answers in another order, beside the values of another database."""
    other, twin = _database(schema, name, random), dict(rows)
    for table in schema.tables.values():
        said = [column.local_epsilon is not None for column in table.columns.values()]
        if any(said):
            pairs = ((row, random.choice(other[table.name])) for row in rows[table.name])
            mixed = [
                tuple(a if is_said else b for is_said, a, b in zip(said, *pair, strict=True))
                for pair in pairs
            ]
            twin[table.name] = random.sample(mixed, len(mixed))
    return twin
