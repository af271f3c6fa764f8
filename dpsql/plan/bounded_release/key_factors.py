"""Factors by key: by how much the values of some groups are multiplied before they are summed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dpsql.plan.expression import Expression
from dpsql.privacy.domain import Value


class KeyFactors(Struct, frozen=True):
    """The whole factor of each group by its key at `key`: what `factors` has, else `otherwise`.

    A public function of the key. ValueError for a factor below 1.
    """

    key: int
    factors: tuple[tuple[Value | None, int], ...]
    otherwise: int

    def __post_init__(self) -> None:
        if min(self._all) < 1:
            raise ValueError("a factor is 1 at least")

    def of_each(self, keys: Iterable[object]) -> list[int]:
        """The factors of groups with these keys."""
        known: dict[object, int] = dict(self.factors)
        return [known.get(key, self.otherwise) for key in keys]

    @property
    def smallest(self) -> int:
        """That of the groups whose sums are divided least."""
        return min(self._all)

    @property
    def largest(self) -> int:
        """That of the groups whose sums are divided most."""
        return max(self._all)

    @property
    def _all(self) -> tuple[int, ...]:
        return (self.otherwise, *(factor for _, factor in self.factors))


class FactoredValue(Struct, frozen=True):
    """`argument`, which is multiplied by the factor of its row's `key` among `factors`."""

    argument: Expression
    key: Expression
    factors: KeyFactors
