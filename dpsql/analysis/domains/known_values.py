"""Constant folding: the value of an expression over columns of one known value, often NULL."""

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
    Parameter,
)
from dpsql.plan.traversal import columns
from dpsql.privacy.domain import Domain, of_values
from dpsql.schema.sql_type import Boolean

Fixed = Mapping[Column, Literal]
"""The value of each column that has the same value in all rows under consideration."""


def constant(expression: Expression, fixed: Fixed) -> Literal | None:
    """The value of `expression` in rows where columns have their `fixed` values; None if unknown.

    Columns that aren't fixed may be anything: `cost * rate` is NULL with its cost.
    """
    match expression:
        case Literal():
            return expression
        case Parameter():
            return None
        case Column():
            return fixed.get(expression)
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right) if _is_strict(
            expression
        ):
            values = [constant(left, fixed), constant(right, fixed)]
            return _null(expression) if any(map(_is_null, values)) else _computed(expression, fixed)
        case Cast(operand=operand) | InList(operand=operand):
            values = [constant(operand, fixed)]
            return _null(expression) if _is_null(values[0]) else _computed(expression, fixed)
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
    """The value of AND, which one FALSE decides, or OR, which one TRUE does; None if unknown."""
    known = [None if value is None else value.value for value in values]
    if any(value is not None and value.value is decisive for value in values):
        return Literal(decisive, Boolean())
    if any(value is None for value in values):
        return None
    return Literal(None if None in known else not decisive, Boolean())


def _chosen(case: Case, fixed: Fixed) -> Literal | None:
    """The value of all branches of a CASE that may be taken; None if they differ."""
    results: list[Literal | None] = []
    for branch in case.branches:
        if never_true(branch.condition, fixed):
            continue
        results.append(constant(branch.result, fixed))
        condition = constant(branch.condition, fixed)
        if condition is not None and condition.value is True:
            break
    else:
        results.append(constant(case.otherwise, fixed))
    return results[0] if len({None if v is None else v.value for v in results}) == 1 else None


def _computed(expression: Expression, fixed: Fixed) -> Literal | None:
    """The value that the engine computes for `expression`; None if a column of it isn't fixed."""
    read = columns(expression)
    if not read <= fixed.keys():
        return None
    domains: dict[Known, Domain] = {c.id: _only(fixed[c]) for c in read}
    domain = enumerated_domain(expression, domains)
    if domain is None or domain.values is None or len(domain.values) + domain.nullable != 1:
        return None
    return Literal(domain.values[0] if domain.values else None, expression.type)


def _only(value: Literal) -> Domain:
    if value.value is None:
        return Domain(values=(), nullable=True)
    return of_values((value.value,), nullable=False)
