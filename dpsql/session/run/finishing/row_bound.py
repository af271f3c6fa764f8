"""How many rows a plan above releases has at most, by the numbers of rows of what it reads.

SELECT s_name, revenue FROM supplier JOIN revenue ON s_suppkey = supplier_no

has no more rows than `revenue`, each of which meets one supplier, whose key that is. Where a
declared key isn't one there may be more: nothing rests on the bound but what is in memory at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from dpsql.analysis.lineage.functional_dependency import declared, is_key_fixed
from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    OuterKind,
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

Leaf: TypeAlias = Release | Scan | PublicStatement
"""What has as many rows as its table."""


def row_bound(
    plan: Plan,
    rows: Callable[[Leaf], int],
    known: Callable[[Plan], int | None] = lambda _: None,
) -> int:
    """The largest number of rows of `plan`, whose leaves have so many `rows`.

    Of some parts their own numbers are `known`.
    """
    if (number := known(plan)) is not None:
        return number

    def bound(part: Plan) -> int:
        return row_bound(part, rows, known)

    match plan:
        case Release() | Scan() | PublicStatement():
            return rows(plan)
        case Values(rows=listed):
            return len(listed)
        case (
            Filter(source=source)
            | Project(source=source)
            | MarkJoin(source=source)
            | Window(source=source)
            | Sort(source=source)
            | SetOperation(left=source)
        ):
            return bound(source)
        case Limit(source=source, count=count):
            return bound(source) if count is None else min(count, bound(source))
        case Aggregate(source=source, keys=keys):
            # Without keys there is a row even of none.
            return bound(source) if keys else 1
        case Union(sources=sources):
            return sum(map(bound, sources))
        case Join(sources=sources, on=on):
            return _joined(sources, tuple(map(bound, sources)), on)
        case OuterJoin(kind=kind, left=left, right=right, on=on):
            matched = _partners(left, right, bound(right), on)
            # A row without a partner is there once.
            pairs = bound(left) * max(1, matched)
            return pairs + bound(right) if kind is OuterKind.FULL else pairs
        case missing:
            assert_never(missing)


def _partners(left: Plan, right: Plan, rows: int, on: tuple[Expression, ...]) -> int:
    """How many of the `rows` of `right` a row of `left` meets."""
    is_one = is_key_fixed(right, on, frozenset(output_columns(left)), declared)
    return min(1, rows) if is_one else rows


def _joined(sources: Sequence[Plan], rows: Sequence[int], on: tuple[Expression, ...]) -> int:
    """How many combinations of `rows` of `sources` meet, counted from each source on in turn."""
    counted = list(zip(sources, rows, strict=True))
    turns = (counted[first:] + counted[:first] for first in range(len(counted)))
    return min(_joined_in_turn(turn, on) for turn in turns)


def _joined_in_turn(counted: list[tuple[Plan, int]], on: tuple[Expression, ...]) -> int:
    """The same from the first source on: those of which one row is met come as soon as they can."""
    columns: frozenset[Column] = frozenset()
    pairs = 1
    while counted:
        fixed = (is_key_fixed(source, on, columns, declared) for source, _ in counted)
        one = next((number for number, is_one in enumerate(fixed) if is_one), None)
        source, rows = counted.pop(one or 0)
        pairs *= rows if one is None else 1
        columns |= frozenset(output_columns(source))
    return pairs
