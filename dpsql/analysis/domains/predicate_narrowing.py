"""Narrowing: the domains of columns in the rows where a predicate is true.

Only accuracy rests on narrowed domains: clamps and key domains are emitted as derived, so rows that
slip through (`WHERE x > 120` on a column bounded by 100) are clamped or dropped, not believed away.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.plan.expression import (
    And,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
)
from dpsql.privacy.domain import UNKNOWN, Domain, Interval, Value, coordinate, of_values
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType
from dpsql.structs import replace

Known = int | Expression
"""What has a domain: a column, by its id, or an expression that a predicate compares."""

_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.GREATER: Comparison.LESS,
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
}


def narrow(predicate: Expression, columns: Mapping[Known, Domain]) -> Mapping[Known, Domain]:
    """The domains of `columns` in the rows where `predicate` is true."""
    match predicate:
        case And(operands=operands):
            for operand in operands:
                columns = narrow(operand, columns)
            return columns
        case Or(operands=operands):
            return _either([narrow(operand, columns) for operand in operands])
        case Compare(op=op, left=left, right=right):
            return _compare(op, left, right, columns)
        case InList(operand=operand, values=values):
            wanted = tuple(v.value for v in values if v.value is not None)
            return _restrict(operand, columns, of_values(wanted, nullable=False))
        case Not(operand=IsNull(operand=operand)) if isinstance(bare(operand), Column):
            return _with(operand, columns, _domain(operand, columns).as_not_null())
        case _:
            # No rule narrows by such a predicate: the domains stay as they were.
            return columns


def _either(branches: list[Mapping[Known, Domain]]) -> Mapping[Known, Domain]:
    merged = dict(branches[0])
    for branch in branches[1:]:
        merged = {
            known: domain.union(branch[known])
            for known, domain in merged.items()
            if known in branch
        }
    return merged


def _compare(
    op: Comparison, left: Expression, right: Expression, columns: Mapping[Known, Domain]
) -> Mapping[Known, Domain]:
    if isinstance(right, Literal):
        return _against(op, left, right, columns)
    if isinstance(left, Literal):
        return _against(_MIRRORED.get(op, op), right, left, columns)
    if op is Comparison.EQUAL and isinstance(left, Column) and isinstance(right, Column):
        both = _intersect(_domain(left, columns), _domain(right, columns))
        return _with(left, _with(right, columns, both), both)
    return columns


def _against(
    op: Comparison, column: Expression, literal: Literal, columns: Mapping[Known, Domain]
) -> Mapping[Known, Domain]:
    if literal.value is None:
        return columns
    number = coordinate(literal.value)
    match op:
        case Comparison.EQUAL | Comparison.NOT_DISTINCT:
            return _restrict(column, columns, of_values((literal.value,), nullable=False))
        case Comparison.UNEQUAL:
            return _without(column, literal.value, columns, or_null=False)
        case Comparison.DISTINCT:
            return _without(column, literal.value, columns, or_null=True)
        case Comparison.LESS | Comparison.LESS_EQUAL if number is not None:
            return _restrict(column, columns, Domain(Interval(None, number), nullable=False))
        case Comparison.GREATER | Comparison.GREATER_EQUAL if number is not None:
            return _restrict(column, columns, Domain(Interval(number, None), nullable=False))
        case _:
            return columns


def _without(
    column: Expression, value: Value, columns: Mapping[Known, Domain], *, or_null: bool
) -> Mapping[Known, Domain]:
    """The domains where `column` isn't `value`. NULL needs `or_null` and a nullable column."""
    before = _domain(column, columns)
    if before.values is None or not set(before.values) - {value}:
        return columns
    others = tuple(v for v in before.values if v != value)
    nullable = or_null and before.nullable
    return _with(column, columns, of_values(others, nullable=nullable))


def _restrict(
    column: Expression, columns: Mapping[Known, Domain], allowed: Domain
) -> Mapping[Known, Domain]:
    return _with(column, columns, _intersect(_domain(column, columns), allowed))


def _intersect(before: Domain, allowed: Domain) -> Domain:
    """The values of both domains, without NULL; all of `before` where they have none in common.

    A predicate that contradicts the declared domain selects rows outside it, whose values are
    clamped: a sensitivity of 0 must not follow (`WHERE x > 120` on bounds [0, 100]).
    """
    not_null = before.as_not_null()
    if allowed.values is not None:
        if before.values is not None:
            wanted = set(allowed.values)
            values = tuple(v for v in before.values if v in wanted)
        else:
            values = tuple(v for v in allowed.values if _is_in(v, before.bounds))
        return of_values(values, nullable=False) if values else not_null
    if before.values is not None:
        values = tuple(v for v in before.values if _is_in(v, allowed.bounds))
        return of_values(values, nullable=False) if values else not_null
    if before.bounds is None or allowed.bounds is None:
        return replace(not_null, bounds=allowed.bounds or before.bounds)
    both = before.bounds.intersection(allowed.bounds)
    return not_null if both is None else replace(not_null, bounds=both)


def _is_in(value: Value, bounds: Interval | None) -> bool:
    number = coordinate(value)
    return bounds is None or number is None or number in bounds


def bare(expression: Expression) -> Expression:
    """The operand of casts that change neither a number's value nor its order."""
    while isinstance(expression, Cast) and _widens(expression.operand.type, expression.type):
        expression = expression.operand
    return expression


def _widens(source: SqlType, target: SqlType) -> bool:
    match source, target:
        case Integer(), Integer() | Decimal() | Double():
            return True
        case Decimal(scale=before), Decimal(scale=after):
            return before <= after
        case Decimal() | Double(), Double():
            return True
        case _:
            # Rounding moves values; text, dates and timestamps have other coordinates.
            return False


def _domain(expression: Expression, columns: Mapping[Known, Domain]) -> Domain:
    return columns.get(_key(expression), UNKNOWN)


def _with(
    expression: Expression, columns: Mapping[Known, Domain], domain: Domain
) -> Mapping[Known, Domain]:
    return {**columns, _key(expression): domain}


def _key(expression: Expression) -> Known:
    operand = bare(expression)
    return operand.id if isinstance(operand, Column) else operand
