"""Aggregates of what has one value in each group: any_value(d.name) by d.id is one more key.

That a group has one value follows from declared keys. Where they don't hold there are two groups
for one: no bound depends on it.
"""

from __future__ import annotations

from dpsql.plan.aggregate import AggregateFunction, AggregateOutput, OpenFunction, Part
from dpsql.plan.expression import Column
from dpsql.plan.operator import Output, Plan
from dpsql.plan.tree import columns
from dpsql.stability.dependency import declared, determined, functions_of
from dpsql.stability.identity import tells_unit

_OF_ONE = frozenset(
    {
        AggregateFunction.MIN,
        AggregateFunction.MAX,
        AggregateFunction.MODE,
        OpenFunction.ANY_VALUE,
        OpenFunction.FIRST,
        OpenFunction.LAST,
    }
)
"""Aggregates of equal values that are this value."""


def with_dependent(
    source: Plan, keys: tuple[Output, ...], aggregates: tuple[AggregateOutput, ...]
) -> tuple[tuple[Output, ...], tuple[AggregateOutput, ...]]:
    """`keys` and `aggregates`, of which those of one value are keys."""
    known = frozenset(k.expression for k in keys if isinstance(k.expression, Column))
    if tells_unit(source, known):
        known |= determined(source, declared)
    known = functions_of(known, source, declared) if known else known
    plain = [output for output in aggregates if not _is_of_one(output, known)]
    more = [
        Output(output.column, output.call.arguments[0], output.call.at)
        for output in aggregates
        if output not in plain
    ]
    return (*keys, *more), tuple(plain)


def _is_of_one(output: AggregateOutput, known: frozenset[Column]) -> bool:
    call = output.call
    if call.function not in _OF_ONE or call.filter is not None or call.part is not Part.VALUE:
        return False
    read = columns(*call.arguments)
    return bool(read) and read <= known
