"""Unit identifiers: columns whose equality proves that two rows have the same privacy unit.

A key of several columns names its row only whole: two sales of one item may be of two customers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final, TypeVar, assert_never

from msgspec import Struct

from dpsql.plan.expression import (
    Column,
    Compare,
    Comparison,
    Expression,
    InList,
    IsNull,
    Not,
    conjuncts,
    matched,
)
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    OuterKind,
    Output,
    Plan,
    Project,
    PublicStatement,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.plan.output_columns import output_columns
from dpsql.schema.model import EntityUnit, Hop, Public, RowUnit, Table
from dpsql.structs import replace

Identity = tuple[str, tuple[str, ...]]
"""A private table and columns of it: its rows that agree on all of them have the same unit."""

UNIT_ITSELF: Final = ""
"""The table of an identity whose value is the unit itself; its column is the kind of unit.

No table has that name; of one that a table may have, a column `patient` would pass for the unit.
"""

_MAX_CHOICES: Final = 16

Choice = TypeVar("Choice")


class UnitIdentifier(Struct, frozen=True):
    """Columns of a plan that hold a value of `identity`, in the order of the identity's columns.

    Their values come from one row of one table: of two sales, an item of one and a ticket of the
    other name nothing. Unless `is_total`, an outer join adds rows of any unit where they are NULL.
    """

    identity: Identity
    columns: tuple[Column, ...]
    is_total: bool


UnitIdentifiers = frozenset[UnitIdentifier]


def unit_identifiers(plan: Plan) -> UnitIdentifiers:
    """The unit identifiers of `plan`'s rows: rows that agree on one of them have the same unit.

    orders.o_custkey names (customer, c_custkey); orders.o_orderkey and lineitem.l_orderkey name
    (orders, o_orderkey): rows that agree on either belong to the same customer. Where a key has
    several columns, rows have to agree on all of them.
    """
    match plan:
        case Scan(table=table, columns=columns):
            return _of_scan(_identifying(table), columns)
        case Project(source=source, outputs=outputs):
            return passed_identifiers(unit_identifiers(source), outputs)
        case Join(sources=sources, on=on):
            namings = frozenset(naming for source in sources for naming in unit_identifiers(source))
            return _where(on, namings)
        case Aggregate(source=source, keys=keys):
            return passed_identifiers(unit_identifiers(source), keys)
        case Filter(source=source, predicate=predicate):
            return _where(conjuncts(predicate), unit_identifiers(source))
        case MarkJoin() | Window() | Sort() | Limit():
            return unit_identifiers(plan.source)
        case OuterJoin(kind=OuterKind.PUBLIC, right=right):
            return unit_identifiers(right)
        case OuterJoin(kind=OuterKind.LEFT, left=left, right=right):
            return unit_identifiers(left) | _partly(unit_identifiers(right))
        case OuterJoin(left=left, right=right):
            return _partly(unit_identifiers(left)) | _partly(unit_identifiers(right))
        case Union(sources=sources, outputs=outputs):
            arms = [identifier_indices(source, output_columns(source)) for source in sources]
            return _at(frozenset.intersection(*arms), outputs)
        case SetOperation(left=left, outputs=outputs):
            return _at(identifier_indices(left, output_columns(left)), outputs)
        case Release() | Values() | PublicStatement():
            return frozenset()
        case missing:
            assert_never(missing)


def determines_unit(plan: Plan, expressions: Iterable[Expression]) -> bool:
    """Rows of `plan` that agree on all of `expressions`, NULLs too, have the same unit."""
    agreed = frozenset(expressions)
    named = (naming for naming in unit_identifiers(plan) if naming.is_total)
    return any(agreed.issuperset(naming.columns) for naming in named)


def identifies_unit(plan: Plan, equated: Iterable[Expression]) -> bool:
    """Rows of `plan` have the same unit where each of `equated` equals a given value, not NULL."""
    agreed = frozenset(equated)
    return any(agreed.issuperset(naming.columns) for naming in unit_identifiers(plan))


def unit_valued_columns(plan: Plan) -> frozenset[Column]:
    """The columns of `plan` that hold the unit itself in every row, and so are never NULL."""
    named = (naming for naming in unit_identifiers(plan) if naming.is_total)
    return frozenset(n.columns[0] for n in named if n.identity[0] == UNIT_ITSELF)


_Indices = tuple[Identity, tuple[int, ...]]


def identifier_indices(plan: Plan, columns: Sequence[Column]) -> frozenset[_Indices]:
    """The total identifiers of `plan`: identities, with indices of their columns in `columns`."""
    indices_of: dict[Column, list[int]] = {}
    for index, column in enumerate(columns):
        indices_of.setdefault(column, []).append(index)
    return frozenset(
        (naming.identity, chosen)
        for naming in unit_identifiers(plan)
        if naming.is_total
        for chosen in _choices(naming.columns, indices_of)
    )


def _at(named: Iterable[_Indices], outputs: Sequence[Column]) -> UnitIdentifiers:
    return frozenset(
        UnitIdentifier(identity, tuple(outputs[index] for index in indices), is_total=True)
        for identity, indices in named
    )


def _partly(namings: Iterable[UnitIdentifier]) -> UnitIdentifiers:
    """The same identifiers where rows without a partner have NULLs instead: they aren't total."""
    return frozenset(replace(naming, is_total=False) for naming in namings)


def _where(conditions: Iterable[Expression], namings: Iterable[UnitIdentifier]) -> UnitIdentifiers:
    """The same identifiers where all `conditions` hold: no column that these compare is NULL."""
    there = {column for condition in conditions for column in _compared(condition)}
    return frozenset(
        replace(naming, is_total=True) if there.issuperset(naming.columns) else naming
        for naming in namings
    )


def _compared(condition: Expression) -> list[Expression]:
    """The expressions that aren't NULL where `condition` holds."""
    match condition:
        case Compare(op=Comparison.DISTINCT | Comparison.NOT_DISTINCT):
            return []
        case Compare():
            return [side for pair in matched([condition]) for side in pair] or [
                condition.left,
                condition.right,
            ]
        case Not(operand=IsNull(operand=operand)) | InList(operand=operand):
            return [operand]
        case _:
            return []


def passed_identifiers(
    namings: Iterable[UnitIdentifier], outputs: Iterable[Output]
) -> UnitIdentifiers:
    """The identifiers all of whose columns `outputs` pass on unchanged, under their new columns."""
    passed: dict[Column, list[Column]] = {}
    for output in outputs:
        if isinstance(output.expression, Column):
            passed.setdefault(output.expression, []).append(output.column)
    return frozenset(
        replace(naming, columns=chosen)
        for naming in namings
        for chosen in _choices(naming.columns, passed)
    )


def _choices(
    columns: tuple[Column, ...], known_as: Mapping[Column, list[Choice]]
) -> Iterator[tuple[Choice, ...]]:
    """The ways to replace each of `columns` by an entry of `known_as`, or only some of them.

    A statement may name each of three columns a hundred times.
    """
    some = [known_as.get(column, []) for column in columns]
    return islice(product(*some), None if len(columns) == 1 else _MAX_CHOICES)


def unit_key(table: Table) -> tuple[tuple[str, ...], Identity] | None:
    """The columns of `table` that hold its rows' units or look them up, and what they identify."""
    match table.ownership:
        case EntityUnit(hops=(hop, *_)):
            return hop.columns, (hop.table, hop.key)
        case EntityUnit(kind=kind, column=column):
            return (column,), (UNIT_ITSELF, (kind,))
        case Public() | RowUnit():
            return None
        case missing:
            assert_never(missing)


def unit_key_identifiers(scan: Scan) -> UnitIdentifiers:
    """The columns of `scan` that hold its rows' units, or that units are looked up by."""
    led = unit_key(scan.table)
    return frozenset() if led is None else _of_scan([led], scan.columns)


def declared_key_identifiers(scan: Scan) -> UnitIdentifiers:
    """The columns of `scan` that are the declared key of its table."""
    key = scan.table.key
    return frozenset() if key is None else _of_scan([(key, (scan.table.name, key))], scan.columns)


def unit_columns(scan: Scan) -> frozenset[Column]:
    """The columns of `scan` that hold its rows' units; none where units are found over hops."""
    own = scan.table.ownership
    if not isinstance(own, EntityUnit) or own.hops:
        return frozenset()
    return frozenset(column for column in scan.columns if column.name == own.column)


def _identifying(table: Table) -> list[tuple[tuple[str, ...], Identity]]:
    """Columns of `table` that together determine a row's unit, and the identity that they hold.

    A declared key determines its row, and so the row's unit; the columns of the first hop name a
    row of another private table, the unit column the entity itself. Where all lines of an order are
    declared to be of one unit, its number names them in each line, and in what leads to a line.
    """
    if isinstance(table.ownership, Public):
        return []
    led = unit_key(table)
    identifying = [] if led is None else [led]
    identifying.extend((own, (table.name, own)) for own in (table.key, table.same_unit) if own)
    match table.ownership:
        case EntityUnit(hops=(Hop(same_unit=(_, *_) as same) as hop, *_)):
            by = {key: column for column, key in hop.pairs}
            identifying.append((tuple(by[key] for key in same), (hop.table, same)))
        case _:
            pass
    return identifying


def _of_scan(
    named: Iterable[tuple[tuple[str, ...], Identity]], columns: tuple[Column, ...]
) -> UnitIdentifiers:
    by_name = {column.name: column for column in columns}
    return frozenset(
        UnitIdentifier(identity, tuple(by_name[name] for name in names), is_total=True)
        for names, identity in named
        if all(name in by_name for name in names)
    )
