"""Columns that a projection only gives another id, and which they were.

SELECT count(*) FROM (SELECT sex AS s FROM patients) WHERE s = 'F'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan, Project


def origins(parts: Iterable[Plan]) -> dict[int, int]:
    """The columns that `parts`, sources first, only name anew, and which they are, by their ids."""
    known: dict[int, int] = {}
    for part in parts:
        for new, old in renamed(part):
            known[new.id] = known.get(old.id, old.id)
    return known


def renamed(part: Plan) -> Iterator[tuple[Column, Column]]:
    """The columns that `part` names anew, each with its old name, if it is a projection."""
    if isinstance(part, Project):
        for output in part.outputs:
            if isinstance(output.expression, Column) and output.declared is None:
                yield output.column, output.expression
