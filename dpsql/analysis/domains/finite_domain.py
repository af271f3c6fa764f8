"""Expressions over columns of few values: each value is computed, by the engine's own functions.

`year(day) * 100 + month(day)` over two years of days has 24 values; interval arithmetic alone would
allow 112. Values are those of an expression's total form, which is NULL where the expression would
raise.
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
"""An expression is computed for at most so many combinations of its columns' values."""

MAX_PAIRS = 1_000
"""At most so many pairs of operands' values are combined: a chain of sums does so at each step."""

MAX_MULTIPLES = 100_000
"""At most so many values are combined with one constant: the engine computes decimals as texts."""

MAX_PARTS = 40
"""An expression of more operators, columns and constants isn't computed: each costs a statement."""

CACHED_RESULTS = 16
"""Each cache holds so few results because a domain may list many values."""


def enumerated_domain(expression: Expression, domains: Mapping[Known, Domain]) -> Domain | None:
    """The values of `expression`, if its columns have few values; None if they have many."""
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
    combinations = zip(*itertools.product(*lists), strict=True)
    column_values = dict(zip((c.id for c in read), combinations, strict=True))
    results = computed(expression, column_values, rows)
    return None if results is None else _domain_of(results)


def images(
    expressions: Sequence[Expression], column: Column, domain: Domain
) -> tuple[Values, ...] | None:
    """The distinct tuples of values that `expressions`, which read `column` alone, have in one row.

    None if the column has many values, or an expression can't be computed.
    """
    values = listed(domain, column.type, MAX_ROWS)
    if not values or not all(map(_is_small, expressions)):
        return None
    column_values = {column.id: values}
    image_lists = [computed(expression, column_values, len(values)) for expression in expressions]
    computed_lists = [image for image in image_lists if image is not None]
    if len(computed_lists) < len(image_lists):
        return None
    return tuple(dict.fromkeys(zip(*computed_lists, strict=True)))


@lru_cache(maxsize=CACHED_RESULTS)
def applied(call: Call, domains: tuple[Domain, ...]) -> Domain:
    """The domain of `call` when each argument has any value of its own domain."""
    entry = FUNCTIONS[call.function]
    known = entry.domain(entry.applied(call, domains))
    if known.values is not None:
        return known
    return _product(entry.template(len(domains)), call.arguments, domains, call.type) or known


def combined(expression: Arithmetic, domains: tuple[Domain, Domain], known: Domain) -> Domain:
    """The domain of `expression` over operands in `domains`: its values, if few, else `known`.

    `known` is its domain by interval arithmetic. Products of integers in an interval leave gaps,
    which values show; sums leave none, so they are listed only where an operand's values are.
    """
    dense = expression.op is not ArithmeticOperator.MULTIPLY
    if dense and all(d.values is None or len(d.values) == 1 for d in domains):
        return known
    if not _is_small(expression):
        return known
    # With a constant there is one result for each value, not one for each pair.
    constant = any(d.values is not None and len(d.values) == 1 for d in domains)
    return _sums(expression, domains, MAX_MULTIPLES if constant else MAX_PAIRS) or known


@lru_cache(maxsize=CACHED_RESULTS)
def _sums(expression: Arithmetic, domains: tuple[Domain, Domain], maximum: int) -> Domain | None:
    left, right = domains
    if left.values is None and right.values is None:
        return None
    lefts = listed(left, expression.left.type, maximum)
    rights = listed(right, expression.right.type, maximum // len(lefts)) if lefts else None
    if not lefts or not rights:
        return None
    pairs = tuple(zip(*itertools.product(lefts, rights), strict=True))
    results = arithmetic(expression, pairs[0], pairs[1])
    return None if results is None else _domain_of(results)


@lru_cache(maxsize=CACHED_RESULTS)
def converted(before: Domain, source: SqlType, target: SqlType, known: Domain) -> Domain:
    """The domain after a cast: its values, if `before` lists few, else `known`, its bounds."""
    if before.values is None or len(before.values) > MAX_VALUES:
        return known
    values = cast(before.values, source, target)
    if values is None:
        return known
    cast_domain = _domain_of(values)
    return cast_domain.as_nullable() if before.nullable else cast_domain


def _product(
    template: Template,
    operands: tuple[Expression, ...],
    domains: tuple[Domain, ...],
    kind: SqlType,
) -> Domain | None:
    """The values of a call over all combinations of its operands' values; None if they are many."""
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
    results = evaluated(template, typed, kind, rows)
    return None if results is None else _domain_of(results)


def _domain_of(numbers: Values) -> Domain:
    """The domain of exactly these values, NULL among them."""
    distinct = dict.fromkeys(numbers)
    values = tuple(value for value in distinct if value is not None)
    return of_values(values, nullable=None in distinct)
