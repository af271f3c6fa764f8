"""A cursor's result: names and types of columns, which the plan tells, a table, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
from msgspec import Struct

from dpsql.schema.sql_type import Decimal, SqlType, Varchar
from dpsql.session.answer.answer import (
    Answer,
    AnswerDetails,
    ColumnBias,
    ColumnErrors,
    Cost,
    HalfWidth,
    Privacy,
)

Description = tuple[str, str, None, None, int | None, int | None, None]
"""PEP 249's seven items: name, type code, display and internal size, precision, scale, null_ok."""


class Result(Struct, frozen=True):
    """A table that may be shown: released, public, or about dpsql itself, as of SHOW.

    `details` computes what a query cost, and is None where none was answered; `errors` computes the
    errors of its columns, of which none is known where no column is noisy.
    """

    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    table: pa.Table
    details: Callable[[], AnswerDetails] | None = None
    errors: Callable[[], ColumnErrors] = ColumnErrors

    @property
    def cost(self) -> Cost | None:
        """What the query cost, in less time than how its columns were made; None as `privacy`."""
        return None if self.details is None else self.details().cost

    @property
    def privacy(self) -> Privacy | None:
        """What the query cost; None where none was answered."""
        return None if self.details is None else self.details().privacy

    @property
    def clamped(self) -> tuple[pa.Array | None, ...]:
        """For each column which values stand at an end of all that they can be."""
        return () if self.details is None else self.details().clamped

    @property
    def half_widths(self) -> tuple[HalfWidth, ...]:
        """The 95 % half-widths of each column."""
        return self.errors().half_widths

    @property
    def biases(self) -> tuple[ColumnBias | None, ...]:
        """What limits leave out of each column's values."""
        return self.errors().biases

    @property
    def description(self) -> tuple[Description, ...]:
        """Each column as PEP 249 describes it."""
        return tuple(map(_describe, self.names, self.types))


def from_answer(answer: Answer) -> Result:
    """The result of a query."""
    return Result(answer.names, answer.types, answer.table, answer.details, answer.errors)


def text_result(names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> Result:
    """A result of text columns."""
    listed = list(rows)
    arrays = [pa.array([row[n] for row in listed], pa.string()) for n in range(len(names))]
    table = pa.table(arrays, names=unique_names(names))
    return Result(tuple(names), (Varchar(),) * len(names), table)


def unique_names(names: Sequence[str]) -> list[str]:
    """`names` with a number behind each that repeats (a, a_1), for formats with unique names."""
    taken = set(names)
    unique: list[str] = []
    for name in names:
        other, number = name, 0
        while other in unique or (number and other in taken):
            number += 1
            other = f"{name}_{number}"
        unique.append(other)
    return unique


def _describe(name: str, kind: SqlType) -> Description:
    if isinstance(kind, Decimal):
        return (name, str(kind), None, None, kind.precision, kind.scale, None)
    return (name, str(kind), None, None, None, None, None)
