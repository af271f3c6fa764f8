"""Expressions whose value is known because that of their columns is: NULL, most of all."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.analysis.domains.finite_domain import enumerated_domain
from dpsql.analysis.domains.predicate_narrowing import Known
from dpsql.plan.expression import (
    And,
    Arithmetic,
    Call,
    Case,
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
from dpsql.plan.traversal import columns
from dpsql.privacy.domain import Domain, of_values
from dpsql.schema.sql_type import Boolean

Fixed = Mapping[Column, Literal]
"""Columns that have one value in the rows that are asked about."""


def constant(expression: Expression, fixed: Fixed) -> Literal | None:
    """What `expression` is wherever its columns have their `fixed` values; None if not known.

    Columns that aren't fixed may be anything: `cost * rate` is NULL with its cost.
    """
    match expression:
        case Literal():
            return expression
        case Column():
            return fixed.get(expression)
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right) if _is_strict(
            expression
        ):
            found = [constant(left, fixed), constant(right, fixed)]
            return _null(expression) if any(map(_is_null, found)) else _computed(expression, fixed)
        case Cast(operand=operand) | InList(operand=operand):
            found = [constant(operand, fixed)]
            return _null(expression) if _is_null(found[0]) else _computed(expression, fixed)
        case IsNull(operand=operand):
            value = constant(operand, fixed)
            return None if value is None else Literal(value.value is None, Boolean())
        case Not(operand=operand):
            value = constant(operand, fixed)
            if value is None or value.value is None:
                return value
            return Literal(not value.value, Boolean())
        case And(operands=operands):
            return _connected([constant(o, fixed) for o in operands], decisive=False)
        case Or(operands=operands):
            return _connected([constant(o, fixed) for o in operands], decisive=True)
        case Case():
            return _chosen(expression, fixed)
        case Arithmetic() | Compare() | Call():
            return _computed(expression, fixed)


def never_true(predicate: Expression, fixed: Fixed) -> bool:
    """No row with the `fixed` values satisfies `predicate`, whatever its other columns are."""
    match predicate:
        case And(operands=operands):
            return any(never_true(operand, fixed) for operand in operands)
        case Or(operands=operands):
            return all(never_true(operand, fixed) for operand in operands)
        case _:
            value = constant(predicate, fixed)
            return value is not None and not value.value


def _is_strict(expression: Arithmetic | Compare) -> bool:
    tests = (Comparison.DISTINCT, Comparison.NOT_DISTINCT)
    return not (isinstance(expression, Compare) and expression.op in tests)


def _is_null(value: Literal | None) -> bool:
    return value is not None and value.value is None


def _null(expression: Expression) -> Literal:
    return Literal(None, expression.type)


def _connected(values: list[Literal | None], *, decisive: bool) -> Literal | None:
    """AND, which one FALSE decides, or OR, which one TRUE does."""
    known = [None if value is None else value.value for value in values]
    if any(value is not None and value.value is decisive for value in values):
        return Literal(decisive, Boolean())
    if any(value is None for value in values):
        return None
    return Literal(None if None in known else not decisive, Boolean())


def _chosen(case: Case, fixed: Fixed) -> Literal | None:
    """The value of the branch that is taken, or of all that may be."""
    found: list[Literal | None] = []
    for branch in case.branches:
        if never_true(branch.condition, fixed):
            continue
        found.append(constant(branch.result, fixed))
        condition = constant(branch.condition, fixed)
        if condition is not None and condition.value is True:
            break
    else:
        found.append(constant(case.otherwise, fixed))
    return found[0] if len({None if v is None else v.value for v in found}) == 1 else None


def _computed(expression: Expression, fixed: Fixed) -> Literal | None:
    """The value that the engine computes, if nothing else is read."""
    read = columns(expression)
    if not read <= fixed.keys():
        return None
    domains: dict[Known, Domain] = {c.id: _only(fixed[c]) for c in read}
    found = enumerated_domain(expression, domains)
    if found is None or found.values is None or len(found.values) + found.nullable != 1:
        return None
    return Literal(found.values[0] if found.values else None, expression.type)


def _only(value: Literal) -> Domain:
    if value.value is None:
        return Domain(values=(), nullable=True)
    return of_values((value.value,), nullable=False)
