"""Units of a group are counted by a string of bits, in the pass in which rows are summed.

A unit's bit is that of its number, so that however many rows a unit has in a group, in whichever
parts, its bit is 1, and a string's bits are as many as its units. To group rows by unit and key
first takes as long as the sums themselves.

A string has a bit for each number, whoever has it. So only units that are integers, and no larger
than MAX_BIT, have a bit, and only in groups of few keys: where the sidecar says of each of one or
two columns that it has few values. Rows without a bit are counted by unit and key, as before:

bits   flag of each key < 1 and u an integer from 0 to MAX_BIT     BITSTRING_AGG(u) GROUP BY key
rest   all other rows                                              GROUP BY u, key; then by key

Whether a row has a bit depends on its unit and on what is said of the whole table, which all its
rows say: of one unit in one group there are no rows in both.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.sql.identifier import column_name, column_ref, reference, with_alias
from dpsql.engine.sidecar.row_columns import many_values_column
from dpsql.physical.modifier.clamp_elimination import OUT_OF_RANGE_TYPE
from dpsql.physical.sidecar_rows import SidecarRows
from dpsql.plan.bounded_release.column_names import UNIT, UNIT_BITS
from dpsql.plan.expression import Column

MAX_BIT: Final = 2**21 - 1
"""Units with a number up to this have a bit: a string is of 256 kB."""

_MAX_KEYS: Final = 2
"""Of so many keys with eight values and NULL there are 81 strings at most, of 21 MB."""

_TYPES: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
)
"""Integers that BIGINT has one for one, as far as it has them. Of texts '1' and '01' were one."""


class UnitBits(Struct, frozen=True):
    """Units have bits where each of `many_values`, which tell of the whole table, is 0."""

    many_values: tuple[Column, ...]

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that rows have to hand on beside their unit."""
        return tuple(map(column_name, self.many_values))

    def strings(self) -> exp.Expr:
        """The string of the bits of a group's units; NULL if none has a bit."""
        bit = exp.case().when(exp.and_(*self._conditions(), copy=False), _number(), copy=False)
        ends = [integer(0), integer(MAX_BIT)]
        return with_alias(exp.Anonymous(this="bitstring_agg", expressions=[bit, *ends]), UNIT_BITS)

    def has_none(self) -> exp.Expr:
        """SQL that is TRUE of rows without a bit."""
        many = [
            exp.GTE(this=reference(column), expression=integer(1)) for column in self.many_values
        ]
        is_unknown = exp.Is(this=_number(), expression=exp.null())
        others = [exp.Not(this=condition) for condition in _has_number()]
        return exp.or_(*many, *others, is_unknown, copy=False)

    def _conditions(self) -> list[exp.Expr]:
        few = [exp.LT(this=reference(column), expression=integer(1)) for column in self.many_values]
        return [*few, *_has_number()]


def unit_bits(rows: SidecarRows, number: int) -> UnitBits | None:
    """The bits of units in the groups of `rows`; None if there may be many. Columns from `number`.

    Whether there are many isn't known when a statement is planned: it is asked of each row.
    """
    names = rows.key_columns()
    if rows.is_on_server or names is None or not 0 < len(names) <= _MAX_KEYS:
        return None
    return UnitBits(
        tuple(
            Column(number + index, many_values_column(name), OUT_OF_RANGE_TYPE)
            for index, name in enumerate(sorted(set(names)))
        )
    )


def number_of_bits() -> exp.Expr:
    """How many units have a bit in any of a group's strings."""
    either = exp.Anonymous(this="bit_or", expressions=[column_ref(UNIT_BITS)])
    count = exp.Anonymous(this="bit_count", expressions=[either])
    return exp.Coalesce(this=count, expressions=[integer(0)])


def _number() -> exp.Expr:
    """The unit as an integer; NULL of what is none."""
    return exp.TryCast(this=column_ref(UNIT), to=exp.DataType.build("BIGINT", dialect="duckdb"))


def _has_number() -> list[exp.Expr]:
    """Conditions on a row: its unit is an integer, and no larger than a string has bits."""
    kind = exp.Anonymous(this="typeof", expressions=[column_ref(UNIT)])
    is_integer = exp.In(this=kind, expressions=[exp.Literal.string(name) for name in _TYPES])
    return [is_integer, exp.Between(this=_number(), low=integer(0), high=integer(MAX_BIT))]
