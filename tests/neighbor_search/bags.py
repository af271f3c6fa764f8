"""One database stored in several ways: what is below a release is a function of each unit's bag.

The same rows come in other orders, and each double as another one that equals it. Integers of
groups and of cells must be the same.
"""

from __future__ import annotations

import math
from functools import cache
from random import Random

import pyarrow as pa
from neighbor_search.public_rows import PUBLIC
from notes.compiler import schema_of
from notes.exact import exact_table

from dpsql.audit.databases.database_batch import DatabaseBatch, Groups, Histogram
from dpsql.audit.databases.random_databases import neighboring_databases
from dpsql.audit.databases.unit_ownership import Row, Rows
from dpsql.session.compile.compiled import CompiledStatement

SALT = "1"

_STORED = 4
"""Ways in which each database is stored."""


@cache
def bags(name: str, verified: frozenset[str], seed: int, databases: int) -> DatabaseBatch:
    """Random databases of the fixture `name`, each stored in several ways, one after the other."""
    random = Random(f"bags of {name}{sorted(verified)}{seed}")
    schema, public = schema_of(name), PUBLIC[name]
    stored: list[Rows] = []
    for _ in range(databases):
        full = next(neighboring_databases(schema, public, random, verified)).full
        stored += [_stored_again(full, random) for _ in range(_STORED)]
    return DatabaseBatch.separately(schema, public, stored)


def check(ready: CompiledStatement, found: DatabaseBatch, sql: str) -> None:
    """Every release of a statement finds the same in all ways of storing one database."""
    tables: dict[str, pa.Table] = {}
    for release in ready.releases:
        totals = list(map(_by_text, found.totals(release, SALT, tables)))
        cells = [list(map(_by_text, each)) for each in found.histograms(release, SALT)]
        for first in range(0, found.count, _STORED):
            for other in range(first + 1, first + _STORED):
                same = (totals[first], cells[first]) == (totals[other], cells[other])
                assert same, f"other integers than of the same bag: {sql}"
        found.load(0)
        tables[release.name] = exact_table(found.connection, release, tables)


def _by_text(groups: Groups | Histogram) -> dict[str, object]:
    """By keys as they are written: NaN equals no other in Python, and -0.0 equals 0.0."""
    return {repr(key): value for key, value in groups.items()}


def _stored_again(rows: Rows, random: Random) -> Rows:
    return {
        name: [_with_equal_doubles(row, random) for row in random.sample(found, len(found))]
        for name, found in rows.items()
    }


def _with_equal_doubles(row: Row, random: Random) -> Row:
    """`row` with zeros and NaNs of any sign."""
    return tuple(
        math.copysign(value, random.choice((-1, 1)))
        if isinstance(value, float) and (value == 0 or math.isnan(value))
        else value
        for value in row
    )
