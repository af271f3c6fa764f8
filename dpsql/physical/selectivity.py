"""How much of a table's rows conditions are taken to leave: by what the schema says of values.

Only how a release is found depends on it, and no row is read for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import Environment
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.plan.expression import Column, Compare, Comparison, Expression, conjuncts
from dpsql.plan.operator import Filter, Join, Plan
from dpsql.plan.traversal import operators
from dpsql.privacy.domain import Domain

_GUESSED: Final = Fraction(1, 5)
"""What a condition is taken to leave of rows where no domain tells: as engines guess, too."""


def selectivity(plan: Plan) -> Fraction:
    """The part of the rows that the conditions below leave, each its part of declared values."""
    return prod(map(_rows_left, operators(plan)), start=Fraction(1))


def _rows_left(plan: Plan) -> Fraction:
    match plan:
        case Filter(source=source, predicate=predicate):
            return _of(conjuncts(predicate), column_domains(source))
        case Join(sources=sources, on=on):
            beside = {known: d for s in sources for known, d in column_domains(s).items()}
            return _of(on, beside)
        case _:
            return Fraction(1)


def _of(conditions: Sequence[Expression], before: Environment) -> Fraction:
    """What all of `conditions` leave: two ends of a range are one part of its values."""
    after: Environment = before
    silent = 0
    for condition in conditions:
        if not _joins(condition):
            silent += narrow(condition, before) == before
            after = narrow(condition, after)
    found = [(before.get(told), domain) for told, domain in after.items()]
    narrowed = [_part(known, domain) for known, domain in found if known != domain]
    return prod(narrowed, start=_GUESSED**silent)


def _joins(condition: Expression) -> bool:
    match condition:
        case Compare(op=Comparison.EQUAL, left=Column(), right=Column()):
            return True
        case _:
            return False


def _part(before: Domain | None, after: Domain) -> Fraction:
    if before is None:
        return _GUESSED
    if before.values and after.values is not None:
        return Fraction(len(after.values), len(before.values))
    widths = [None if d.bounds is None else d.bounds.ends for d in (before, after)]
    match widths:
        case [(low, high), (least, most)] if low < high:
            return (most - least) / (high - low)
        case _:
            return _GUESSED
