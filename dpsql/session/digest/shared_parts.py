"""Digests of releases that differ in constants alone: parts without a constant are read once.

A part in which no plan stands means what its fields say of the columns that it names. So where the
very same object is read again, and each column means what it meant, its digest is the same.

    SELECT dept, avg(pay) FROM people WHERE age > 30 GROUP BY dept
    SELECT dept, avg(pay) FROM people WHERE age > 41 GROUP BY dept

The list of `dept` and the sums of `pay` are such parts. Rows of which the constant is a part are
read each time; so are the parts that name a column which such rows make.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from dpsql.engine.digest import ATOMS, Digest
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.operator import Plan, Release
from dpsql.session.digest.canonical_digest import DigestBuilder, RowsDigest

_SCALARS: Final = ATOMS.keys() - {tuple, frozenset}


class _Part(Struct, frozen=True):
    """The digest of `value`, where columns mean what `columns` says, by their ids."""

    value: Any
    columns: Mapping[int, Digest]
    digest: Digest


class SharedParts:
    """The parts of `bounded`, for the digests of releases that have many of these very parts."""

    def __init__(self, bounded: BoundedRelease, keys: Mapping[Release, str]) -> None:
        reader = _Recorder(keys)
        reader.read(bounded)
        # What is remembered is held, so that its id stays its own.
        self._parts: Final = reader.parts

    def release_digest(self, bounded: BoundedRelease, keys: Mapping[Release, str]) -> Digest:
        """As `release_digest` of `canonical_digest`."""
        return _Reader(keys, self._parts).read(bounded)


class _Recorder(DigestBuilder):
    """Remembers the digest of each part in which no plan stands."""

    def __init__(self, keys: Mapping[Release, str]) -> None:
        super().__init__(keys)
        self.parts: dict[int, _Part] = {}
        self._plans = 0

    def read(self, value: Any) -> Digest:
        plans = self._plans
        digest = super().read(value)
        if self._plans == plans and type(value) not in _SCALARS:
            self.parts[id(value)] = _Part(value, dict(self._columns), digest)
        return digest

    def _rows(self, plan: Plan) -> RowsDigest:
        # Plans say what columns mean, and number the leaves.
        self._plans += 1
        return super()._rows(plan)


class _Reader(DigestBuilder):
    """Knows the digests of `parts`."""

    def __init__(self, keys: Mapping[Release, str], parts: Mapping[int, _Part]) -> None:
        super().__init__(keys)
        self._parts = parts

    def read(self, value: Any) -> Digest:
        known = self._parts.get(id(value))
        if known is not None and known.value is value and known.columns == self._columns:
            return known.digest
        return super().read(value)
