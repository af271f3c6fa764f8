"""All databases over a small universe of units, and all their neighbours.

A database says how many copies of each unit of the universe it holds. Neighbours are k units
apart: k removed from the larger of the two (add_remove), or k replaced by others (change_one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

from dpsql.schema.model import Neighbors

Database = tuple[int, ...]
"""The number of copies of each unit."""


def databases(copies: Sequence[int], size: int) -> Iterator[Database]:
    """Every database of `size` units, of each of which there are so many copies."""
    if not copies:
        if not size:
            yield ()
        return
    for own in range(min(copies[0], size) + 1):
        for rest in databases(copies[1:], size - own):
            yield (own, *rest)


def pairs(
    copies: Sequence[int], sizes: Iterable[int], k: int, relation: Neighbors
) -> Iterator[tuple[Database, Database]]:
    """Every database of these sizes beside each neighbour, once; no two are the same.

    Under add_remove the neighbour has k units less, under change_one k others or fewer.
    """
    for size in sizes:
        for database in databases(copies, size):
            if relation is Neighbors.ADD_REMOVE:
                yield from ((database, fewer) for fewer in removals(database, k))
        if relation is Neighbors.CHANGE_ONE and size >= k:
            alike: dict[Database, list[Database]] = {}
            for database in databases(copies, size):
                for kept in removals(database, k):
                    alike.setdefault(kept, []).append(database)
            seen: set[tuple[Database, Database]] = set()
            for same in alike.values():
                seen.update(combinations(same, 2))
            yield from sorted(seen)


def removals(database: Database, k: int) -> Iterator[Database]:
    """`database` without k of its units, each way once."""
    yield from (
        tuple(own - gone for own, gone in zip(database, removed, strict=True))
        for removed in databases(database, k)
    )


def largest(
    copies: Sequence[int],
    sizes: Iterable[int],
    k: int,
    relation: Neighbors,
    value: Callable[[Database], float | None],
) -> tuple[float, tuple[Database, Database] | None]:
    """The most that `value` changes between neighbours, and where; no value is no neighbour."""
    known = cache(value)
    most, worst = 0.0, None
    for one, other in pairs(copies, sizes, k, relation):
        before, after = known(one), known(other)
        if before is not None and after is not None and abs(before - after) > most:
            most, worst = abs(before - after), (one, other)
    return most, worst
