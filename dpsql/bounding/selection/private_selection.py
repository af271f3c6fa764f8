"""Public candidates become a choice among cells: thresholds that rows pass, and weights of counts.

SELECT price … ORDER BY (SELECT count(*) * price FROM bids WHERE bid >= price) DESC LIMIT 1

ThresholdCells(bid >= 10, 20, 30)                   a bid of 25 is in the cell of 20
ThresholdScores(first_cells=(0, 1, 2), weights=(1, 2, 3), step=10)

The candidates are read here, as keys that public tables list are. Which rows there are decides what
is chosen among, and nothing private decides that.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any, Final, NoReturn

from msgspec import Struct

from dpsql.bounding.public_facts import Facts
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.bounded_release.cell_selection import (
    MAX_LISTED,
    CellChoice,
    ThresholdCells,
    ThresholdScores,
)
from dpsql.plan.bounded_release.estimator import ChosenValue, EstimatedColumn
from dpsql.plan.expression import Column, Compare, Comparison, Expression, Literal, Or
from dpsql.plan.operator import Candidates, Filter, Output, Plan, Project
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import BIGINT, Double

LARGEST_WEIGHT: Final = 2**20
"""Weights are integers up to this; finer ones are rounded, by less than a millionth of the largest.

So scores of billions of rows are integers that are chosen among exactly.
"""


class _Candidate(Struct, frozen=True):
    threshold: Value | None
    weight: Fraction
    shown: Cell


def candidate_choice(
    candidates: Candidates, facts: Facts
) -> tuple[tuple[CellChoice], tuple[EstimatedColumn, ...]]:
    """The choice of one of `candidates`, and its columns.

    Raises Refused where there is none with a score, where there are too many, and where a number
    among them is NaN or infinite.
    """
    known = _ranked(_known(candidates, facts))
    if not known:
        _refuse(candidates, "there is no candidate to choose: no public row has a score")
    is_upward = candidates.comparison in (Comparison.GREATER_EQUAL, Comparison.GREATER)
    thresholds = {one.threshold for one in known}
    ordered = sorted((t for t in thresholds if t is not None), key=_in_order, reverse=not is_upward)
    if not ordered:
        _refuse(candidates, "there is nothing to choose by: no public row has a value to compare")
    cells = ThresholdCells(candidates.value, candidates.comparison, tuple(ordered))
    # No row passes NULL, as in SQL: the count is 0.
    positions: dict[Value | None, int] = {None: len(ordered)}
    positions |= {threshold: number for number, threshold in enumerate(ordered)}
    weights, step = _integers([-c.weight if candidates.lowest else c.weight for c in known])
    scores = ThresholdScores(tuple(positions[c.threshold] for c in known), weights, step)
    columns = tuple(
        EstimatedColumn(output.column, ChosenValue(0, tuple(c.shown[n] for c in known)))
        for n, output in enumerate(candidates.outputs)
    )
    return (CellChoice(cells, None, scores),), columns


def _known(candidates: Candidates, facts: Facts) -> list[_Candidate]:
    """The candidates that have a score."""
    read = (candidates.threshold, candidates.weight, *(o.expression for o in candidates.outputs))
    _check_finite(candidates, read, facts)
    listed = tuple(
        Output(Column(number, "candidate", expression.type), expression)
        for number, expression in enumerate(read, 1)
    )
    rows = facts.rows(Project(candidates.rows, listed), MAX_LISTED)
    if rows is None:
        _refuse(candidates, f"there are more than {MAX_LISTED} candidates")
    known: list[_Candidate] = []
    for threshold, weight, *shown in rows:
        if isinstance(weight, int | Fraction):
            known.append(_Candidate(threshold, Fraction(weight), tuple(shown)))
    return known


def _ranked(candidates: list[_Candidate]) -> list[_Candidate]:
    """Each candidate once, in an order that no way of writing the query changes."""

    def order(one: _Candidate) -> tuple[object, ...]:
        values: tuple[Value | None, ...] = (one.threshold, one.weight, *one.shown)
        return tuple(map(_in_order, values))

    return sorted(dict.fromkeys(candidates), key=order)


def _in_order(value: Value | None) -> tuple[bool, Any]:
    # All values of a column are of one type.
    return (True, 0) if value is None else (False, value)


def _check_finite(candidates: Candidates, read: tuple[Expression, ...], facts: Facts) -> None:
    """Refuse NaN and infinities, which no fraction is."""
    doubles = [expression for expression in read if isinstance(expression.type, Double)]
    if not doubles:
        return
    largest = Literal(Fraction(sys.float_info.max), Double())
    smallest = Literal(-Fraction(sys.float_info.max), Double())
    # Both NaN and infinity are above all numbers.
    beyond = [Compare(Comparison.GREATER, double, largest) for double in doubles]
    beyond += [Compare(Comparison.LESS, double, smallest) for double in doubles]
    there: Plan = Filter(candidates.rows, Or(tuple(beyond)))
    mark = Output(Column(1, "beyond", BIGINT), Literal(1, BIGINT))
    if facts.rows(Project(there, (mark,)), 0) is None:
        _refuse(candidates, "a candidate's number is NaN or infinite")


def _integers(weights: list[Fraction]) -> tuple[tuple[int, ...], Fraction]:
    """`weights` as integers, and what one of these is worth: exactly, if they are small enough."""
    step = Fraction(
        math.gcd(*(w.numerator for w in weights)), math.lcm(*(w.denominator for w in weights))
    )
    largest = max(map(abs, weights))
    if not largest:
        return (0,) * len(weights), Fraction(1)
    step = max(step, largest / LARGEST_WEIGHT)
    return tuple(round(weight / step) for weight in weights), step


def _refuse(candidates: Candidates, what: str) -> NoReturn:
    raise Refused(
        what,
        at=candidates.at,
        hint=f"choose among 1 to {MAX_LISTED} public rows with finite numbers, by WHERE",
        note="private_selection",
    )
