"""What a cursor reads from: names and types known from the plan, a table, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dpsql.schema.sql_type import Decimal, SqlType, Varchar
from dpsql.session.answer.answer import Answer, HalfWidth, Privacy

Description = tuple[str, str, None, None, int | None, int | None, None]
"""PEP 249's seven: name, type code, display and internal size, precision, scale, null_ok."""


@dataclass(frozen=True, slots=True)
class Result:
    """A table that may leave: released, public, or said by dpsql itself (`privacy` is None).

    `half_widths` are its columns', none at all where nothing is noisy.
    """

    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    table: pa.Table
    privacy: Privacy | None = None
    half_widths: tuple[HalfWidth, ...] = ()

    @property
    def description(self) -> tuple[Description, ...]:
        """Each column as PEP 249 describes it."""
        return tuple(map(_describe, self.names, self.types))


def from_answer(answer: Answer) -> Result:
    """The result of a query."""
    return Result(answer.names, answer.types, answer.table, answer.privacy, answer.half_widths)


def text_result(names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> Result:
    """A result of text columns."""
    listed = list(rows)
    arrays = [pa.array([row[place] for row in listed], pa.string()) for place in range(len(names))]
    table = pa.table(arrays, names=unique_names(names))
    return Result(tuple(names), (Varchar(),) * len(names), table)


def unique_names(names: Sequence[str]) -> list[str]:
    """`names` with a number behind each that stood before: a, a_1. For forms that need it."""
    taken = set(names)
    found: list[str] = []
    for name in names:
        other, number = name, 0
        while other in found or (number and other in taken):
            number += 1
            other = f"{name}_{number}"
        found.append(other)
    return found


def _describe(name: str, kind: SqlType) -> Description:
    if isinstance(kind, Decimal):
        return (name, str(kind), None, None, kind.precision, kind.scale, None)
    return (name, str(kind), None, None, None, None, None)
