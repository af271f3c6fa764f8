"""Random databases to choose from, each with its own neighbours."""

from __future__ import annotations

from functools import cache
from random import Random

from neighbor_search.search import Search, one_of
from notes.compiler import schema_of

from dpsql.schema.model import Public


@cache
def pool(schema: str, verified: frozenset[str], seed: int, databases: int = 6) -> list[Search]:
    """So many databases of a fixture, whose `verified` keys hold, each with all its neighbours."""
    random = Random(f"{schema}{sorted(verified)}{seed}")
    return [one_of(schema, verified, random, 1) for _ in range(databases)]


@cache
def private_tables(schema: str) -> frozenset[str]:
    """Those whose keys count as verified where keys hold."""
    tables = schema_of(schema).tables.values()
    return frozenset(t.name for t in tables if not isinstance(t.ownership, Public))
