"""Units drawn by a law: from the domains that the schema declares, or from a public table's rows.

The law is the sampler's assumption about data that it doesn't look at. Values of a column are
uniform on its declared values or between its bounds, and NULL in one of ten where it is nullable;
an entity has as many rows in a table as its limit allows, up to `MAX_ROWS`, or fewer, each number
as often as the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Final, assert_never

from msgspec import Struct

from dpsql.audit.databases.boundary_values import decimal_text, declared_values, ends
from dpsql.audit.databases.candidate_units import (
    PlanConstants,
    entity_rows,
    identity_text,
    piece,
)
from dpsql.audit.databases.unit_ownership import Row, Rows
from dpsql.errors import BadParameter
from dpsql.privacy.domain import day, timestamp
from dpsql.schema.model import Column, Schema, Table
from dpsql.schema.sql_type import (
    Array,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    Null,
    Timestamp,
    Uuid,
    Varchar,
)

MAX_ROWS: Final = 8
_NULLS: Final = 0.1


class PublicRows(Struct, frozen=True):
    """The rows of a public table, one at least: values of columns of the same names are theirs."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[Row]


class UnitLaw(Struct, frozen=True):
    """The law of the units that a statement reads; `public` are the rows of public tables.

    Columns that `model` has are drawn as in one of its rows, all of a row from the same one.
    """

    schema: Schema
    constants: PlanConstants
    public: Rows
    model: PublicRows | None = None

    def __post_init__(self) -> None:
        read = {name for names in self.constants.columns.values() for name in names}
        if self.model is not None and not read & set(self.model.columns):
            raise BadParameter(
                f"the statement reads no column that {self.model.table} has",
                hint=f"name its columns as those that are read: {', '.join(sorted(read))}",
            )

    def draw(self, random: Random, identity: int) -> Rows:
        """The rows of one unit; `identity` is its own."""
        kind = self.constants.kind
        table = next((t for t in self.schema.tables if kind == f"row of {t}"), None)
        if table is None:
            shape = _DrawnShape(self, random, {})
            rows = entity_rows(self.schema, self.constants.columns, identity, shape, random)
            return piece(self.schema, rows)
        known, own = self.model_row(random), self.schema.tables[table]
        row = tuple(
            self._in_row(own, column, known, random, identity) for column in own.columns.values()
        )
        return piece(self.schema, {table: [row]})

    def _in_row(
        self,
        table: Table,
        column: Column,
        known: Mapping[str, object],
        random: Random,
        identity: int,
    ) -> object:
        if column.name not in self.constants.columns.get(table.name, ()):
            return None
        is_key = column.name in (table.key or ())
        if is_key and column.bounds is None and column.values is None:
            return identity_text(column, identity)
        return self.value(column, known, random)

    def model_row(self, random: Random) -> Mapping[str, object]:
        """A row of the public table, by column; empty if there is none."""
        if self.model is None:
            return {}
        return dict(zip(self.model.columns, random.choice(self.model.rows), strict=True))

    def value(self, column: Column, known: Mapping[str, object], random: Random) -> object:
        """A value of `column`: that of `known`, or drawn from its domain."""
        if column.name in known:
            return known[column.name]
        if column.nullable and random.random() < _NULLS:
            return None
        reference = column.references
        if reference is not None and reference.table in self.public:
            index = list(self.schema.tables[reference.table].columns).index(reference.column)
            return random.choice(self.public[reference.table])[index]
        return _from_domain(column, random)


class _DrawnShape(Struct, frozen=True):
    """The shape of one entity; `known` has the public row that each of its rows is drawn from."""

    law: UnitLaw
    random: Random
    known: dict[tuple[str, int], Mapping[str, object]]

    def row_count(self, table: Table, *, only: bool) -> int:
        return 1 if only else self.random.randint(0, min(table.limits.rows, MAX_ROWS))

    def value(self, table: Table, column: Column, index: int) -> object:
        row = table.name, index
        if row not in self.known:
            self.known[row] = self.law.model_row(self.random)
        return self.law.value(column, self.known[row], self.random)


def _from_domain(column: Column, random: Random) -> object:
    """A value of the declared domain, each of which is drawn as often as the others."""
    if column.values is not None:
        return random.choice(declared_values(column))
    if column.bounds is None and not isinstance(column.type, Boolean):
        raise BadParameter(
            f"nothing tells which values {column.name} has",
            hint=f"declare bounds or values of {column.name}, or name a public table that has it",
        )
    low, high = ends(column)
    match column.type:
        case Boolean():
            return random.random() < 1 / 2
        case Integer():
            return random.randint(int(low), int(high))
        case Decimal(scale=scale):
            steps = 10**scale
            return decimal_text(
                Fraction(random.randint(round(low * steps), round(high * steps)), steps), scale
            )
        case Double():
            return random.uniform(float(low), float(high))
        case Date():
            return day(random.randint(int(low), int(high)))
        case Timestamp():
            return timestamp(random.randint(int(low), int(high)))
        case Varchar() | Uuid() | Interval() | Array() | Null():
            raise BadParameter(
                f"nothing tells which values {column.name} has",
                hint=f"declare values of {column.name}",
            )
        case missing:
            assert_never(missing)
