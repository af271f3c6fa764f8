"""How much of a table's rows conditions are expected to leave, by the domains that are declared.

Only estimates of strategies depend on it, and no row is read for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import Environment
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.plan.expression import Column, Compare, Comparison, Expression, Parameter, conjuncts
from dpsql.plan.operator import Filter, Join, Plan
from dpsql.plan.traversal import operators
from dpsql.privacy.domain import Domain

_GUESSED: Final = Fraction(1, 5)
"""The share of rows that a condition is expected to leave where no domain tells: engines' guess."""


def selectivity(plan: Plan) -> Fraction:
    """The share of the tables' rows, from 0 to 1, that all conditions in `plan` leave.

    A condition leaves the share of the declared values that it lets through.
    """
    return share_left(operators(plan))


def share_left(conditional: Iterable[Plan]) -> Fraction:
    """The share of the rows that the conditions of `conditional` operators leave."""
    return prod(map(_rows_left, conditional), start=Fraction(1))


def _rows_left(plan: Plan) -> Fraction:
    match plan:
        case Filter(source=source, predicate=predicate):
            return _share(conjuncts(predicate), column_domains(source))
        case Join(sources=sources, on=on):
            domains = {known: d for s in sources for known, d in column_domains(s).items()}
            return _share(on, domains)
        case _:
            return Fraction(1)


def _share(conditions: Sequence[Expression], before: Environment) -> Fraction:
    """The share that all of `conditions` leave: two ends of a range are one part of its values."""
    after: Environment = before
    unknown = 0
    of_parameters = Fraction(1)
    for condition in conditions:
        share = _share_of_parameter(condition)
        if share is not None:
            of_parameters *= share
        elif not _equates_columns(condition):
            unknown += narrow(condition, before) == before
            after = narrow(condition, after)
    domains = [(before.get(known), domain) for known, domain in after.items()]
    shares = [share_of_values(old, new) for old, new in domains if old != new]
    return prod(shares, start=of_parameters * _GUESSED**unknown)


def _share_of_parameter(condition: Expression) -> Fraction | None:
    match condition:
        case Compare(right=Parameter(share=share)):
            return share
        case _:
            return None


def _equates_columns(condition: Expression) -> bool:
    match condition:
        case Compare(op=Comparison.EQUAL, left=Column(), right=Column()):
            return True
        case _:
            return False


def share_of_values(before: Domain | None, after: Domain) -> Fraction:
    """The share of the values of `before` that a condition leaves, which has those of `after`."""
    if before is None:
        return _GUESSED
    if before.values and after.values is not None:
        return Fraction(len(after.values), len(before.values))
    widths = [None if d.bounds is None else d.bounds.ends for d in (before, after)]
    match widths:
        case [(low, high), (new_low, new_high)] if low < high:
            return (new_high - new_low) / (high - low)
        case _:
            return _GUESSED
