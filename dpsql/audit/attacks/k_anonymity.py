"""A table made k-anonymous: each row looks like at least k - 1 others to who knows a person's data.

Rows are halved at the median of the attribute that is widest, as long as both halves have k rows,
and then show the range of each attribute in their class instead of its value (Mondrian: LeFevre,
DeWitt & Ramakrishnan 2006).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

Attributes = tuple[int, ...]
"""What an outsider may know of a person, as numbers."""


class EquivalenceClass(Struct, frozen=True):
    """Rows that show the same ranges, from `low` to `high`, and the sensitive value of each."""

    low: Attributes
    high: Attributes
    values: tuple[int, ...]

    def may_have(self, person: Attributes) -> bool:
        """Whether the row of `person` can be in it."""
        ends = zip(self.low, person, self.high, strict=True)
        return all(low <= own <= high for low, own, high in ends)


def k_anonymous(rows: Sequence[tuple[Attributes, int]], k: int) -> list[EquivalenceClass]:
    """The classes of `rows`, attributes and a sensitive value each; ValueError for less than k."""
    if len(rows) < k:
        raise ValueError(f"{len(rows)} rows can't be {k}-anonymous")
    for attribute in _widest_first(rows):
        ordered = sorted(rows, key=lambda row: row[0][attribute])
        middle = ordered[len(ordered) // 2][0][attribute]
        below = [row for row in rows if row[0][attribute] < middle]
        above = [row for row in rows if row[0][attribute] >= middle]
        if min(len(below), len(above)) >= k:
            return [*k_anonymous(below, k), *k_anonymous(above, k)]
    known = list(zip(*(attributes for attributes, _ in rows), strict=True))
    low, high = tuple(map(min, known)), tuple(map(max, known))
    return [EquivalenceClass(low, high, tuple(value for _, value in rows))]


def _widest_first(rows: Sequence[tuple[Attributes, int]]) -> list[int]:
    """The attributes by how many values they have among `rows`."""
    number = len(rows[0][0])
    return sorted(range(number), key=lambda n: len({known[n] for known, _ in rows}), reverse=True)
