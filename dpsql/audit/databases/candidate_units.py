"""Units that a database may hold: the rows of each, with values of the schema's domains.

Every database of an enumeration is made of them, so there are few, and they are as different as
can be: every value of the columns that the statement reads, or bounds first, and units that have
many rows in one group, in many groups, or none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import product
from random import Random
from typing import Protocol

from msgspec import Struct

from dpsql.audit.databases.boundary_values import declared, distinct
from dpsql.audit.databases.unit_ownership import Row, Rows
from dpsql.schema.model import Column, EntityUnit, Public, RowUnit, Schema, Table

_UNIFORM_UNITS = 4
"""The number of units, the first ones, whose rows are all alike."""

_MAX_ROWS = 80
"""The rows of a unit at most: larger limits are never met, which costs tightness only."""


class PlanConstants(Struct, frozen=True):
    """The kind of a statement's unit, and the columns of each table that the statement reads.

    `strict`: only values of the declared domains are tried, none outside and no NULL.
    """

    kind: str
    columns: dict[str, frozenset[str]]
    strict: bool = False


def public_table_rows(schema: Schema) -> Rows:
    """Three rows of every public table, whose keys are 1 to 3, or the first declared values."""
    rows: Rows = {}
    for table in schema.tables.values():
        if isinstance(table.ownership, Public):
            columns = table.columns.values()
            rows[table.name] = [
                tuple(_public(column, table, index) for column in columns) for index in range(3)
            ]
    return rows


def candidates(
    schema: Schema,
    constants: PlanConstants,
    public: Rows,
    max_rows: int,
    copies: int,
    random: Random,
) -> list[list[Rows]]:
    """At most `max_rows` different units, each `copies` times under identifiers of their own.

    `public` are the rows of public tables.
    """
    table = next((t for t in schema.tables if constants.kind == f"row of {t}"), None)
    if table is not None:
        rows = list(_rows(schema.tables[table], constants, public, max_rows, random))
        return [[piece(schema, {table: [row]})] * copies for row in rows]
    drawn = [random.randrange(2**32) for _ in range(max_rows)]
    return [
        [
            piece(schema, _entity(schema, constants, public, number * copies + copy, number, seed))
            for copy in range(copies)
        ]
        for number, seed in enumerate(drawn)
    ]


def _entity(
    schema: Schema, constants: PlanConstants, public: Rows, identity: int, number: int, seed: int
) -> Rows:
    random = Random(seed)
    shape = _ExtremeShape(constants, public, number, random)
    return entity_rows(schema, constants.columns, identity, shape, random)


def piece(schema: Schema, rows: Rows) -> Rows:
    """The rows of one unit, with no rows for tables that `rows` lacks."""
    return {name: rows.get(name, []) for name in schema.tables}


def _rows(
    table: Table, constants: PlanConstants, public: Rows, max_rows: int, random: Random
) -> Iterator[Row]:
    """Rows of a table whose rows are units: all combinations of values, or extremes and others."""
    read = constants.columns.get(table.name, frozenset())
    values = [
        _values(column, constants, public, max_rows) if name in read else [None]
        for name, column in table.columns.items()
    ]
    count = 1
    for some in values:
        count *= len(some)
    if count <= max_rows:
        yield from product(*values)
        return
    firsts = [tuple(some[index % len(some)] for some in values) for index in range(max_rows // 2)]
    rest = (tuple(random.choice(some) for some in values) for _ in range(20 * max_rows))
    yield from list({repr(row): row for row in (*firsts, *rest)}.values())[:max_rows]


class Shape(Protocol):
    """How many rows an entity has in a table, and what stands in them."""

    def row_count(self, table: Table, *, only: bool) -> int:
        """The number of rows in `table`, of which there is one if it is the `only` one."""

    def value(self, table: Table, column: Column, index: int) -> object:
        """The value of a column of `table` that is read, in the entity's row of that index."""


class _ExtremeShape(Struct, frozen=True):
    """The shape of the `number`-th entity of its kind: extreme ones first, then drawn ones."""

    constants: PlanConstants
    public: Rows
    number: int
    random: Random

    def row_count(self, table: Table, *, only: bool) -> int:
        limits = table.limits
        many = [1, 1, *[min(limits.rows, _MAX_ROWS) + 2] * 2, limits.groups + 2]
        if only:
            return 1
        return many[self.number] if self.number < len(many) else self.random.randint(0, 5)

    def value(self, table: Table, column: Column, index: int) -> object:  # noqa: ARG002
        values = _values(column, self.constants, self.public, 50)
        if self.number > _UNIFORM_UNITS:
            return self.random.choice(values)
        # Units 0 and 2 lie at low ends, 1 and 3 at high ones; unit 4 is in many groups.
        rank = index if self.number == _UNIFORM_UNITS else self.number % 2
        return values[rank % len(values)]


def entity_rows(
    schema: Schema,
    columns: Mapping[str, frozenset[str]],
    identity: int,
    shape: Shape,
    random: Random,
) -> Rows:
    """The rows of one entity, whose identifier is `identity`, in the tables of `columns`.

    These are the columns that a statement reads; keys and references aside, others are NULL.
    """
    rows_of = Rows()
    tables = [t for t in schema.tables.values() if isinstance(t.ownership, EntityUnit)]
    above = {hop.table for t in tables if t.name in columns for hop in _of(t).hops}
    own = [t for t in tables if t.name in {*columns, *above}]
    for table in sorted(own, key=lambda t: len(_of(t).hops)):
        ownership = _of(table)
        parents = rows_of.get(ownership.hops[0].table, []) if ownership.hops else [()]
        only = table.key == (ownership.column,) and not ownership.hops
        count = shape.row_count(table, only=only)
        rows: list[Row] = []
        read = columns.get(table.name, frozenset())
        for index in range(count if parents else 0):
            fixed = identity * 1000 + index, identity, random.choice(parents)
            rows.append(_row(schema, table, read, fixed, partial(shape.value, table, index=index)))
        rows_of[table.name] = rows
    return rows_of


def _row(
    schema: Schema,
    table: Table,
    read: frozenset[str],
    fixed: tuple[int, int, Row],
    value: Callable[[Column], object],
) -> Row:
    """A row with the keys of `fixed`: its own number, its entity's, and the row it refers to."""
    ownership, (number, identity, parent) = _of(table), fixed
    row: list[object] = []
    for column in table.columns.values():
        if ownership.hops and column.name in ownership.first_hop_columns:
            above, to = schema.tables[ownership.hops[0].table], dict(ownership.hops[0].pairs)
            row.append(parent[list(above.columns).index(to[column.name])])
        elif not ownership.hops and column.name == ownership.column:
            row.append(identity_text(column, identity))
        elif column.name in _own_names(table):
            row.append(identity_text(column, number))
        elif column.name in read:
            row.append(value(column))
        else:
            row.append(None)
    return tuple(row)


def _own_names(table: Table) -> tuple[str, ...]:
    """The columns of a key that don't reference another table, or all, if all of them do."""
    key = table.key or ()
    return tuple(n for n in key if table.columns[n].references is None) or key


def _values(column: Column, constants: PlanConstants, public: Rows, limit: int) -> list[object]:
    references = column.references
    if references is not None and references.table in public:
        return [1, 2, 3] if constants.strict else [1, 2, 3, 999, None]
    return declared(column, limit) if constants.strict else distinct(column)


def identity_text(column: Column, number: int) -> object:
    """The identifier `number` as text, which DuckDB casts to the type of `column`."""
    text = str(column.type).upper()
    return f"00000000-0000-0000-0000-{number:012d}" if text == "UUID" else str(number)


def _public(column: Column, table: Table, index: int) -> object:
    if column.references is not None or column.name in (table.key or ()):
        return index + 1 if str(column.type).upper() != "VARCHAR" else f"k{index + 1}"
    values = declared(column, 3)
    return values[index % len(values)]


def _of(table: Table) -> EntityUnit:
    assert isinstance(table.ownership, EntityUnit)
    return table.ownership


def kinds(schema: Schema) -> Collection[str]:
    """Every kind of unit in the schema."""
    names: list[str] = []
    for table in schema.tables.values():
        match table.ownership:
            case RowUnit():
                names.append(f"row of {table.name}")
            case EntityUnit(kind=kind):
                names.append(kind)
            case Public():
                pass
    return dict.fromkeys(names)


def in_words(unit: Rows, schema: Schema) -> Iterator[str]:
    """A unit's rows, one a line, without their NULLs."""
    for name, rows in unit.items():
        for row in rows:
            cells = zip(schema.tables[name].columns, row, strict=True)
            shown = ", ".join(f"{column}={value}" for column, value in cells if value is not None)
            yield f"{name}({shown})"
