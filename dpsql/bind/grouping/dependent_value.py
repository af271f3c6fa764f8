"""Aggregates of what has one value in each group: any_value(d.name) by d.id is one more key.

That a group has one value follows from declared keys. Where they don't hold there are two groups
for one: no bound depends on it. Keys of a release list all their values, so that only public rows
may tell which of them belong together: by v.doctor_id each name would stand beside each doctor.
"""

from __future__ import annotations

from dpsql.analysis.lineage.functional_dependency import (
    declared,
    functions_of,
    unit_determined_columns,
)
from dpsql.analysis.lineage.public_keys import public_key_source
from dpsql.analysis.lineage.unit_identity import determines_unit
from dpsql.bind.grouping.public_key import with_public_keys
from dpsql.plan.aggregate import (
    AggregateCall,
    AggregateFunction,
    AggregateOutput,
    OpenFunction,
    OutputKind,
)
from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Aggregate, Output, Plan
from dpsql.plan.traversal import columns

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
    wanted = [o.call.arguments[0] for o in aggregates if _is_one(o.call)]
    listed = with_public_keys(source, keys, columns(*wanted)) if wanted else keys
    known = _known(source, listed, wanted)
    plain = [output for output in aggregates if not _is_of_one(output, known)]
    more = [
        Output(output.column, output.call.arguments[0], output.call.at)
        for output in aggregates
        if output not in plain
    ]
    return (*(listed if more else keys), *more), tuple(plain)


def _known(source: Plan, keys: tuple[Output, ...], wanted: list[Expression]) -> frozenset[Column]:
    """The columns with one value in each group, as far as `wanted` asks for them."""
    own = [key for key in keys if isinstance(key.expression, Column)]
    if determines_unit(source, (key.expression for key in own)):
        return unit_determined_columns(source, declared)
    public = tuple(key for key in own if public_key_source(source, (key,)) is not None)
    each = (Output(column, column) for column in columns(*wanted))
    listed = tuple(key for key in each if public_key_source(source, (key,)) is not None)
    found = public_key_source(source, (*public, *listed)) if public and listed else None
    if found is None or not isinstance(found.plan, Aggregate):
        return frozenset()
    named = frozenset(k.expression for k in public if isinstance(k.expression, Column))
    return functions_of(named, found.plan.source, declared)


def _is_of_one(output: AggregateOutput, known: frozenset[Column]) -> bool:
    return _is_one(output.call) and columns(*output.call.arguments) <= known


def _is_one(call: AggregateCall) -> bool:
    """The value itself, where there is but one."""
    return (
        call.function in _OF_ONE
        and call.filter is None
        and call.output_kind is OutputKind.VALUE
        and bool(columns(*call.arguments))
    )
