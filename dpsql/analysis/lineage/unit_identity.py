"""Identities: the columns that tell apart whose rows are, alone or together.

A key of several columns names its row only whole: two sales of one item may be of two customers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Final, TypeVar, assert_never

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

Identity = tuple[str, tuple[str, ...]]
"""A private table and its columns whose values together tell its rows' units apart."""

UNIT_ITSELF: Final = ""
"""The table of an identity whose value is the unit itself, of the kind that is its column.

No table has that name; under one that a table may have, its column `patient` would pass for it.
"""

_MAX_CHOICES: Final = 16

Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True)
class UnitIdentifier:
    """The columns that name `identity` in each row, in the order of its columns.

    All are of one row of one table: of two sales, an item of one and a ticket of the other name
    nothing. Unless `is_total`, an outer join has rows where they are NULL, whosever these are.
    """

    identity: Identity
    columns: tuple[Column, ...]
    is_total: bool


UnitIdentifiers = frozenset[UnitIdentifier]


def unit_identifiers(plan: Plan) -> UnitIdentifiers:
    """The columns of private rows whose equality proves that two rows have the same unit.

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
            found = frozenset(naming for source in sources for naming in unit_identifiers(source))
            return _where(on, found)
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
    """Rows of `plan` whose values of `equated` equal given ones have the same unit."""
    agreed = frozenset(equated)
    return any(agreed.issuperset(naming.columns) for naming in unit_identifiers(plan))


def unit_valued_columns(plan: Plan) -> frozenset[Column]:
    """The columns of `plan` that are the unit in every row, and so are never NULL."""
    named = (naming for naming in unit_identifiers(plan) if naming.is_total)
    return frozenset(n.columns[0] for n in named if n.identity[0] == UNIT_ITSELF)


_Indices = tuple[Identity, tuple[int, ...]]


def identifier_indices(plan: Plan, columns: Sequence[Column]) -> frozenset[_Indices]:
    """What is named, in every row, by the columns at which of the places of `columns`."""
    places: dict[Column, list[int]] = {}
    for place, column in enumerate(columns):
        places.setdefault(column, []).append(place)
    return frozenset(
        (naming.identity, chosen)
        for naming in unit_identifiers(plan)
        if naming.is_total
        for chosen in _choices(naming.columns, places)
    )


def _at(named: Iterable[_Indices], outputs: Sequence[Column]) -> UnitIdentifiers:
    return frozenset(
        UnitIdentifier(identity, tuple(outputs[place] for place in places), is_total=True)
        for identity, places in named
    )


def _partly(namings: Iterable[UnitIdentifier]) -> UnitIdentifiers:
    """The same where rows without a partner have NULLs instead."""
    return frozenset(replace(naming, is_total=False) for naming in namings)


def _where(conditions: Iterable[Expression], namings: Iterable[UnitIdentifier]) -> UnitIdentifiers:
    """The same where all `conditions` hold: a column that one compares is there."""
    there = {column for condition in conditions for column in _compared(condition)}
    return frozenset(
        replace(naming, is_total=True) if there.issuperset(naming.columns) else naming
        for naming in namings
    )


def _compared(condition: Expression) -> list[Expression]:
    """What isn't NULL where `condition` holds."""
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
    """What columns that are handed on as they are name together, if all of them are."""
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
    """Something in the place of each column, in all ways, but of several columns in some only.

    A statement may name each of three columns a hundred times.
    """
    some = [known_as.get(column, []) for column in columns]
    return islice(product(*some), None if len(columns) == 1 else _MAX_CHOICES)


def unit_key(table: Table) -> tuple[tuple[str, ...], Identity] | None:
    """The columns of `table` that its rows' units are looked up by, or are, and what they name."""
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
    """The columns of `scan` that its rows' units are looked up by, or are."""
    led = unit_key(scan.table)
    return frozenset() if led is None else _of_scan([led], scan.columns)


def declared_key_identifiers(scan: Scan) -> UnitIdentifiers:
    """The columns of `scan` that are the declared key of its table."""
    key = scan.table.key
    return frozenset() if key is None else _of_scan([(key, (scan.table.name, key))], scan.columns)


def unit_columns(scan: Scan) -> frozenset[Column]:
    """The columns of `scan` that are its rows' unit; none where other tables tell it."""
    own = scan.table.ownership
    if not isinstance(own, EntityUnit) or own.hops:
        return frozenset()
    return frozenset(column for column in scan.columns if column.name == own.column)


def hop_keys(on: Iterable[Expression], child: Scan, hop: Hop, parent: Scan) -> list[Expression]:
    """The conditions by which rows meet those that a hop leads to; none unless all columns do.

    Sales that meet returns by the item alone are those of all who bought it.
    """
    if parent.table.name != hop.table:
        return []
    met = [key_equalities(on, child, column, parent, key) for column, key in hop.pairs]
    return [condition for found in met for condition in found] if all(met) else []


def key_equalities(
    on: Iterable[Expression], left: Scan, left_name: str, right: Scan, right_name: str
) -> list[Expression]:
    """The conditions that say that columns of two tables, of these names, are equal."""
    pairs = [
        {a, b}
        for a in left.columns
        if a.name == left_name
        for b in right.columns
        if b.name == right_name
    ]
    return [p for p in on for sides in matched([p]) if {*sides} in pairs]


def _identifying(table: Table) -> list[tuple[tuple[str, ...], Identity]]:
    """Columns of `table` that determine a row's unit, and what they identify.

    A declared key determines its row, and with it the row's unit; the first columns of the unit's
    path name a row of another private table, or the entity itself. Where all lines of an order are
    declared to be of one unit, its number names them in each line, and in what leads to a line.
    """
    if isinstance(table.ownership, Public):
        return []
    led = unit_key(table)
    found = [] if led is None else [led]
    found.extend((own, (table.name, own)) for own in (table.key, table.same_unit) if own)
    match table.ownership:
        case EntityUnit(hops=(Hop(same_unit=(_, *_) as same) as hop, *_)):
            by = {key: column for column, key in hop.pairs}
            found.append((tuple(by[key] for key in same), (hop.table, same)))
        case _:
            pass
    return found


def _of_scan(
    named: Iterable[tuple[tuple[str, ...], Identity]], columns: tuple[Column, ...]
) -> UnitIdentifiers:
    found = {column.name: column for column in columns}
    return frozenset(
        UnitIdentifier(identity, tuple(found[name] for name in names), is_total=True)
        for names, identity in named
        if all(name in found for name in names)
    )
