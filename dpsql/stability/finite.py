"""Expressions over columns of few values: each value is computed, by the engine's own functions.

`year(day) * 100 + month(day)` over two years of days has 24 values; interval arithmetic alone
would allow 112. An expression stands here for its total form: NULL where it would raise.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, assert_never

from dpsql.engine.constant import Template
from dpsql.plan.expression import (
    And,
    Arithmetic,
    ArithmeticOperator,
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
    Scalar,
)
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.functions.bound import MOST_VALUES, listed
from dpsql.plan.functions.evaluation import Operand, cast, evaluated
from dpsql.plan.number import holds
from dpsql.plan.tree import columns, subexpressions
from dpsql.privacy.domain import Domain, of_values
from dpsql.schema.type import Boolean, Double, Integer, SqlType
from dpsql.stability.narrowing import Known

MOST_ROWS = 20_000
"""Combinations of columns' values that an expression is computed for."""

MOST_PAIRS = 1_000
"""Pairs of operands' values that are combined: a chain of sums combines them at each step."""

MOST_PARTS = 40
"""Operators, columns and constants of an expression that is computed: each costs a statement."""

Values = tuple[Scalar, ...]
Given = Mapping[int, Values]
"""The columns' values, row by row, by their ids."""

Operation = Callable[[Any, Any], Any]

_OPERATORS: dict[ArithmeticOperator, Operation] = {
    ArithmeticOperator.ADD: operator.add,
    ArithmeticOperator.SUBTRACT: operator.sub,
    ArithmeticOperator.MULTIPLY: operator.mul,
    ArithmeticOperator.DIVIDE: operator.truediv,
}

_NAMES = {Comparison.UNEQUAL: "!="}


def enumerated(expression: Expression, domains: Mapping[Known, Domain]) -> Domain | None:
    """All that `expression` may be, if its columns have few values; None if they haven't."""
    if not _is_small(expression):
        return None
    read = sorted(columns(expression), key=lambda column: column.id)
    known = tuple(domains.get(column.id) for column in read)
    if not read or None in known:
        return None
    return _enumerated(expression, tuple(read), tuple(d for d in known if d is not None))


def _is_small(expression: Expression) -> bool:
    parts = itertools.islice(subexpressions(expression), MOST_PARTS + 1)
    return sum(1 for _ in parts) <= MOST_PARTS


@lru_cache(maxsize=256)
def _enumerated(
    expression: Expression, read: tuple[Column, ...], domains: tuple[Domain, ...]
) -> Domain | None:
    lists: list[Values] = []
    rows = 1
    for column, domain in zip(read, domains, strict=True):
        values = listed(domain, column.type, MOST_ROWS // rows)
        if not values:
            return None
        rows *= len(values)
        lists.append(values)
    places = zip(*itertools.product(*lists), strict=True)
    found = _values(expression, dict(zip((c.id for c in read), places, strict=True)), rows)
    return None if found is None else _among(found)


def applied(call: Call, domains: tuple[Domain, ...]) -> Domain:
    """What `call` may be when its arguments are in `domains`, each by itself."""
    entry = FUNCTIONS[call.function]
    known = entry.domain(entry.applied(call, domains))
    if known.values is not None:
        return known
    return _product(entry.template(len(domains)), call.arguments, domains, call.type) or known


def combined(expression: Arithmetic, domains: tuple[Domain, Domain], known: Domain) -> Domain:
    """What `expression` may be, `known` to lie in bounds, when its operands are in `domains`.

    Multiples of integers in an interval leave gaps, sums of them leave none.
    """
    dense = expression.op is not ArithmeticOperator.MULTIPLY
    if dense and all(d.values is None or len(d.values) == 1 for d in domains):
        return known
    if not _is_small(expression):
        return known
    # With a constant there is one result for each value, not one for each pair.
    constant = any(d.values is not None and len(d.values) == 1 for d in domains)
    return _sums(expression, domains, MOST_VALUES if constant else MOST_PAIRS) or known


@lru_cache(maxsize=64)
def _sums(expression: Arithmetic, domains: tuple[Domain, Domain], most: int) -> Domain | None:
    left, right = domains
    if left.values is None and right.values is None:
        return None
    lefts = listed(left, expression.left.type, most)
    rights = listed(right, expression.right.type, most // len(lefts)) if lefts else None
    if not lefts or not rights:
        return None
    pairs = tuple(zip(*itertools.product(lefts, rights), strict=True))
    found = _arithmetic(expression, pairs[0], pairs[1])
    return None if found is None else _among(found)


def converted(before: Domain, source: SqlType, target: SqlType, known: Domain) -> Domain:
    """What a cast makes of values, `known` to lie in bounds."""
    if before.values is None or len(before.values) > MOST_VALUES:
        return known
    values = cast(before.values, source, target)
    if values is None:
        return known
    found = _among(values)
    return found.as_nullable() if before.nullable else found


@lru_cache(maxsize=256)
def _product(
    template: Template,
    operands: tuple[Expression, ...],
    domains: tuple[Domain, ...],
    kind: SqlType,
) -> Domain | None:
    """Every value of the call over all combinations of its operands' values, if they are few."""
    if all(domain.values is None for domain in domains):
        return None
    lists: list[Values] = []
    rows = 1
    for operand, domain in zip(operands, domains, strict=True):
        values = listed(domain, operand.type, MOST_VALUES // rows)
        if not values:
            return None
        rows *= len(values)
        lists.append(values)
    columns = zip(*itertools.product(*lists), strict=True)
    typed = tuple(Operand(c, o.type) for c, o in zip(columns, operands, strict=True))
    found = evaluated(template, typed, kind, rows)
    return None if found is None else _among(found)


def _among(found: Values) -> Domain:
    distinct = dict.fromkeys(found)
    values = tuple(value for value in distinct if value is not None)
    return of_values(values, nullable=None in distinct)


def _values(expression: Expression, given: Given, rows: int) -> Values | None:
    """The values of `expression`, row by row of its columns'; None if they can't be computed."""
    match expression:
        case Literal(value=value):
            return (value,) * rows
        case Column(id=number):
            return given[number]
        case Arithmetic(left=left, right=right):
            sides = _all_values((left, right), given, rows)
            return None if sides is None else _arithmetic(expression, *sides)
        case Compare(op=comparison, left=left, right=right):
            name = _NAMES.get(comparison, comparison.value)
            return _computed((name, 0, 1), (left, right), Boolean(), given, rows)
        case And(operands=operands):
            return _rowwise(_all, operands, given, rows)
        case Or(operands=operands):
            return _rowwise(_any, operands, given, rows)
        case Not(operand=operand):
            return _rowwise(
                lambda truth: None if truth is None else not truth, (operand,), given, rows
            )
        case IsNull(operand=operand):
            return _rowwise(lambda value: value is None, (operand,), given, rows)
        case InList(operand=operand, values=among):
            return _rowwise(_in, (operand, *among), given, rows)
        case Case(branches=branches, otherwise=otherwise):
            parts = [part for b in branches for part in (b.condition, b.result)]
            return _rowwise(_first, (*parts, otherwise), given, rows)
        case Cast(operand=operand, type=target):
            values = _values(operand, given, rows)
            return None if values is None else cast(values, operand.type, target)
        case Call(function=function, arguments=arguments):
            entry = FUNCTIONS[function]
            called = entry.template(len(arguments))
            return _computed(called, arguments, expression.type, given, rows)
        case missing:
            assert_never(missing)


def _arithmetic(expression: Arithmetic, left: Values, right: Values) -> Values | None:
    """The values of the operator, pair by pair, NULL where it overflows or divides by zero.

    Integers are Python's, and Python's floats are the engine's doubles; the rest it is asked for.
    """
    kind, op = expression.type, _OPERATORS[expression.op]
    match kind:
        case Integer() if all(isinstance(t, Integer) for t in _sides(expression)):
            return tuple(_whole(op, a, b, kind) for a, b in zip(left, right, strict=True))
        case Double(bits=64):
            return tuple(_float(op, a, b) for a, b in zip(left, right, strict=True))
        case _:
            operands = tuple(map(Operand, (left, right), _sides(expression)))
            return evaluated((expression.op.value, 0, 1), operands, kind, len(left))


def _sides(expression: Arithmetic) -> tuple[SqlType, SqlType]:
    return expression.left.type, expression.right.type


def _whole(op: Operation, left: Scalar, right: Scalar, kind: Integer) -> Scalar:
    if left is None or right is None:
        return None
    found = op(left, right)
    return found if holds(kind, found) else None


def _float(op: Operation, left: Scalar, right: Scalar) -> Scalar:
    if not isinstance(left, int | Fraction) or not isinstance(right, int | Fraction):
        return None
    try:
        found = op(float(left), float(right))
    except (ZeroDivisionError, OverflowError):
        return None
    return Fraction(found) if math.isfinite(found) else None


def _computed(
    template: Template, operands: tuple[Expression, ...], kind: SqlType, given: Given, rows: int
) -> Values | None:
    columns = _all_values(operands, given, rows)
    if columns is None:
        return None
    typed = tuple(Operand(c, o.type) for c, o in zip(columns, operands, strict=True))
    return evaluated(template, typed, kind, rows)


def _rowwise(
    rule: Callable[..., Scalar], operands: tuple[Expression, ...], given: Given, rows: int
) -> Values | None:
    columns = _all_values(operands, given, rows)
    return None if columns is None else tuple(map(rule, *columns))


def _all_values(
    operands: tuple[Expression, ...], given: Given, rows: int
) -> tuple[Values, ...] | None:
    found = [_values(operand, given, rows) for operand in operands]
    known = tuple(values for values in found if values is not None)
    return known if len(known) == len(found) else None


def _all(*truths: Scalar) -> Scalar:
    return False if False in truths else None if None in truths else True


def _any(*truths: Scalar) -> Scalar:
    return True if True in truths else None if None in truths else False


def _in(value: Scalar, *among: Scalar) -> Scalar:
    return None if value is None else _any(*(None if a is None else a == value for a in among))


def _first(*parts: Scalar) -> Scalar:
    """The result after the first condition that holds, else the last one."""
    conditions, results = parts[:-1:2], parts[1::2]
    holding = (result for truth, result in zip(conditions, results, strict=True) if truth)
    return next(holding, parts[-1])
