"""All databases over a small universe of units, and all their neighbors.

A database is the number of copies that it holds of each unit. Neighbors are k units apart: k units
are removed from the larger of the two (add_remove), or k are replaced by others (change_one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

from dpsql.schema.model import Neighbors

Database = tuple[int, ...]
"""The number of copies of each unit."""


def databases(copies: Sequence[int], size: int) -> Iterator[Database]:
    """Every database of `size` units; `copies` are the copies of each unit that there are."""
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
    """Each pair of a database of these `sizes` and a neighbor of it, once; they are never equal.

    Under add_remove the neighbor has k units less; under change_one k units or fewer are replaced.
    """
    for size in sizes:
        for database in databases(copies, size):
            if relation is Neighbors.ADD_REMOVE:
                yield from ((database, fewer) for fewer in removals(database, k))
        if relation is Neighbors.CHANGE_ONE and size >= k:
            alike: dict[Database, list[Database]] = {}
            for database in databases(copies, size):
                for remainder in removals(database, k):
                    alike.setdefault(remainder, []).append(database)
            seen: set[tuple[Database, Database]] = set()
            for same in alike.values():
                seen.update(combinations(same, 2))
            yield from sorted(seen)


def removals(database: Database, k: int) -> Iterator[Database]:
    """`database` without k of its units, in each way once."""
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
    """The largest change of `value` between neighbors, and a pair with it, None if none changes.

    Databases whose value is None are left out.
    """
    known = cache(value)
    max_change, worst = 0.0, None
    for one, other in pairs(copies, sizes, k, relation):
        before, after = known(one), known(other)
        if before is not None and after is not None and abs(before - after) > max_change:
            max_change, worst = abs(before - after), (one, other)
    return max_change, worst
