"""Expressions over columns of few values: each value is computed, by the engine's own functions.

`year(day) * 100 + month(day)` over two years of days has 24 values; interval arithmetic alone
would allow 112. An expression stands here for its total form: NULL where it would raise.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache

from dpsql.analysis.domains.predicate_narrowing import Known
from dpsql.analysis.domains.vectorized_evaluation import Values, arithmetic, computed
from dpsql.engine.duckdb.constant_evaluation import Template
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Call, Column, Expression
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.functions.domain_rules import MAX_VALUES, listed
from dpsql.plan.functions.evaluation import Operand, cast, evaluated
from dpsql.plan.traversal import columns, operands
from dpsql.privacy.domain import Domain, of_values
from dpsql.schema.sql_type import SqlType

MAX_ROWS = 20_000
"""Combinations of columns' values that an expression is computed for."""

MAX_PAIRS = 1_000
"""Pairs of operands' values that are combined: a chain of sums combines them at each step."""

MAX_MULTIPLES = 100_000
"""Values that are combined with one constant: decimals are asked of the engine, as texts."""

MAX_PARTS = 40
"""Operators, columns and constants of an expression that is computed: each costs a statement."""


SMALL_DOMAIN_SIZE = 16
"""Domains that are remembered: each may be a list of many values."""


def enumerated_domain(expression: Expression, domains: Mapping[Known, Domain]) -> Domain | None:
    """All that `expression` may be, if its columns have few values; None if they haven't."""
    if not _is_small(expression):
        return None
    read = sorted(columns(expression), key=lambda column: column.id)
    known = tuple(domains.get(column.id) for column in read)
    if not read or None in known:
        return None
    return _enumerated(expression, tuple(read), tuple(d for d in known if d is not None))


def _is_small(expression: Expression) -> bool:
    waiting, parts = [expression], 0
    while waiting and parts <= MAX_PARTS:
        waiting += operands(waiting.pop())
        parts += 1
    return parts <= MAX_PARTS


@lru_cache(maxsize=64)
def _enumerated(
    expression: Expression, read: tuple[Column, ...], domains: tuple[Domain, ...]
) -> Domain | None:
    lists: list[Values] = []
    rows = 1
    for column, domain in zip(read, domains, strict=True):
        values = listed(domain, column.type, MAX_ROWS // rows)
        if not values:
            return None
        rows *= len(values)
        lists.append(values)
    places = zip(*itertools.product(*lists), strict=True)
    found = computed(expression, dict(zip((c.id for c in read), places, strict=True)), rows)
    return None if found is None else _among(found)


def images(
    expressions: Sequence[Expression], column: Column, domain: Domain
) -> tuple[Values, ...] | None:
    """What all of `expressions`, which read `column` alone, are together, each combination once.

    None if the column has many values, or an expression can't be computed.
    """
    values = listed(domain, column.type, MAX_ROWS)
    if not values or not all(map(_is_small, expressions)):
        return None
    given = {column.id: values}
    found = [computed(expression, given, len(values)) for expression in expressions]
    places = [place for place in found if place is not None]
    if len(places) < len(found):
        return None
    return tuple(dict.fromkeys(zip(*places, strict=True)))


@lru_cache(maxsize=SMALL_DOMAIN_SIZE)
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
    return _sums(expression, domains, MAX_MULTIPLES if constant else MAX_PAIRS) or known


@lru_cache(maxsize=SMALL_DOMAIN_SIZE)
def _sums(expression: Arithmetic, domains: tuple[Domain, Domain], maximum: int) -> Domain | None:
    left, right = domains
    if left.values is None and right.values is None:
        return None
    lefts = listed(left, expression.left.type, maximum)
    rights = listed(right, expression.right.type, maximum // len(lefts)) if lefts else None
    if not lefts or not rights:
        return None
    pairs = tuple(zip(*itertools.product(lefts, rights), strict=True))
    found = arithmetic(expression, pairs[0], pairs[1])
    return None if found is None else _among(found)


@lru_cache(maxsize=SMALL_DOMAIN_SIZE)
def converted(before: Domain, source: SqlType, target: SqlType, known: Domain) -> Domain:
    """What a cast makes of values, `known` to lie in bounds."""
    if before.values is None or len(before.values) > MAX_VALUES:
        return known
    values = cast(before.values, source, target)
    if values is None:
        return known
    found = _among(values)
    return found.as_nullable() if before.nullable else found


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
        values = listed(domain, operand.type, MAX_VALUES // rows)
        if not values:
            return None
        rows *= len(values)
        lists.append(values)
    columns = zip(*itertools.product(*lists), strict=True)
    typed = tuple(Operand(c, o.type) for c, o in zip(columns, operands, strict=True))
    found = evaluated(template, typed, kind, rows)
    return None if found is None else _among(found)


def _among(numbers: Values) -> Domain:
    distinct = dict.fromkeys(numbers)
    values = tuple(value for value in distinct if value is not None)
    return of_values(values, nullable=None in distinct)
