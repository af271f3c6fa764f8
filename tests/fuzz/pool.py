"""Random databases to choose from, each with its own neighbours."""

from __future__ import annotations

from functools import cache
from random import Random

import duckdb
from grammar.compiler import schema_of
from grammar.public_rows import PUBLIC, create_tables
from grammar.search import Pair, Search
from grammar.worlds import neighbours

from dpsql.schema.model import Public


@cache
def pool(schema: str, verified: frozenset[str], seed: int, databases: int = 6) -> list[Search]:
    """So many databases of a fixture, whose `verified` keys hold, each with all its neighbours."""
    found, random = schema_of(schema), Random(f"{schema}{sorted(verified)}{seed}")
    connection = duckdb.connect(config={"threads": 1})
    searches: list[Search] = []
    for number in range(databases):
        pairs: list[Pair] = []
        for place, pair in enumerate(neighbours(found, PUBLIC[schema], random, verified)):
            full, without = f"w{number}", f"w{number}_{place}"
            if not pairs:
                create_tables(connection, found, pair.full, full)
            create_tables(connection, found, pair.without, without)
            pairs.append(Pair(number, full, without, pair.unit, pair.full))
        searches.append(Search(connection, tuple(pairs)))
    return searches


@cache
def private_tables(schema: str) -> frozenset[str]:
    """Those whose keys count as verified where keys hold."""
    tables = schema_of(schema).tables.values()
    return frozenset(t.name for t in tables if not isinstance(t.ownership, Public))
