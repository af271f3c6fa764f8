"""A plan as it is written: a digest that only names, and where they stand, leave no trace in.

Which rows LIMIT keeps, which value first() finds and how a sum of doubles is rounded follow from
the order in which rows come, and that from how the query is written:

    SELECT i FROM (VALUES (1), (2)) t(i) LIMIT 1
    SELECT i FROM (VALUES (2), (1)) t(i) LIMIT 1

Each is a set of conditions and sources in no order, and the same one; as written, they differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.engine.digest import Digest, digest_of
from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan, Release, Scan
from dpsql.plan.output_columns import output_columns
from dpsql.session.digest.codec import parted


def as_written(plan: Plan, keys: Mapping[Release, str]) -> Digest:
    """The digest of `plan`, operator by operator; `keys` identify the releases that it reads."""
    return _Writer(keys).read(plan)


class _Writer:
    """Columns are known by the order in which they are met."""

    def __init__(self, keys: Mapping[Release, str]) -> None:
        self._keys = keys
        self._numbers: dict[int, str] = {}

    def read(self, value: Any) -> Digest:
        match value:
            case Column(id=number, type=kind):
                numbers = self._numbers
                return numbers.setdefault(number, f"{len(numbers)} {self.read(kind)}")
            case Scan(table=table, columns=columns, unit=unit):
                names = (column.name for column in columns)
                return digest_of("scan", table.engine_name, *names, self.read((*columns, unit)))
            case Release():
                return digest_of("answer", self._keys[value], self.read(output_columns(value)))
            case _:
                return parted(value, self.read)
