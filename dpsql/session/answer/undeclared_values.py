"""Constants that are none of the values which the schema declares for what they are compared with.

    SELECT count(*) FROM patients WHERE sex = 'f'

Where F and M are declared, that is noise at the price of a count. The schema alone tells it,
whether a row has the value or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from dpsql.analysis.domains.predicate_narrowing import bare
from dpsql.analysis.domains.renamed_columns import origins
from dpsql.plan.expression import Column, Compare, Comparison, Expression, InList, Literal, Scalar
from dpsql.plan.expression_text import describe, describe_value
from dpsql.plan.operator import Plan, Scan
from dpsql.plan.traversal import expressions, operators, subexpressions
from dpsql.schema.model import Column as Declared
from dpsql.session.explain.plan_visibility import hides

_SHOWN: Final = 6
"""Declared values that a note names."""


def undeclared_value_notes(plan: Plan) -> tuple[str, ...]:
    """A line for each column of `plan`, and each such constant it is compared with."""
    parts = tuple(operators(plan))
    listed = {
        column.id: declared
        for part in parts
        if isinstance(part, Scan)
        for column in part.columns
        if (declared := part.table.columns[column.name]).values is not None
    }
    if not listed or hides(plan):
        return ()
    listed |= {new: listed[old] for new, old in origins(parts).items() if old in listed}
    every = (each for outermost in expressions(plan) for each in subexpressions(outermost))
    return tuple(dict.fromkeys(line for each in every for line in _notes(each, listed)))


def _notes(expression: Expression, listed: Mapping[int, Declared]) -> Iterator[str]:
    operand, constants = _equated(expression)
    column = None if operand is None else bare(operand)
    if not isinstance(column, Column) or column.id not in listed:
        return
    declared = listed[column.id]
    values = declared.values or ()
    for constant in constants:
        if constant.value is not None and constant.value not in values:
            yield (
                f"no declared value of {declared.name} is {describe(constant)}:"
                f" they are {_shown(values)}"
            )


def _equated(expression: Expression) -> tuple[Expression | None, tuple[Literal, ...]]:
    """What `expression` compares for equality, and the constants that it compares it with."""
    match expression:
        case Compare(op=Comparison.EQUAL | Comparison.UNEQUAL, left=left, right=right):
            if isinstance(left, Literal):
                left, right = right, left
            return (left, (right,)) if isinstance(right, Literal) else (None, ())
        case InList(operand=operand, values=values):
            return operand, values
        case _:
            return None, ()


def _shown(values: Iterable[Scalar]) -> str:
    texts = list(map(describe_value, islice(values, _SHOWN + 1)))
    return ", ".join([*texts[:_SHOWN], "…"] if len(texts) > _SHOWN else texts)
