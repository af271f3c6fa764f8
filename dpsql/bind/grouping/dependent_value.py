"""Aggregates of values that are the same in each group: any_value(d.name) by d.id is one more key.

That a group has one value follows from declared keys. Where the data violate a key, one group
becomes two, and no bound is affected. A release lists all values of its keys, so that only public
rows may tell which of them belong together: by v.doctor_id each name would stand beside each
doctor.
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
"""Aggregates that give v where all values are v."""


def with_dependent(
    source: Plan, keys: tuple[Output, ...], aggregates: tuple[AggregateOutput, ...]
) -> tuple[tuple[Output, ...], tuple[AggregateOutput, ...]]:
    """`keys` and `aggregates`, where aggregates of one value in each group have become keys."""
    values = [o.call.arguments[0] for o in aggregates if _is_one(o.call)]
    listed = with_public_keys(source, keys, columns(*values)) if values else keys
    dependent = _known(source, listed, values)
    others = [output for output in aggregates if not _is_of_one(output, dependent)]
    dependent_keys = [
        Output(output.column, output.call.arguments[0], output.call.at)
        for output in aggregates
        if output not in others
    ]
    return (*(listed if dependent_keys else keys), *dependent_keys), tuple(others)


def _known(source: Plan, keys: tuple[Output, ...], values: list[Expression]) -> frozenset[Column]:
    """The columns with one value in each group of `source` by `keys`.

    Among the columns of public rows, only those that `values` read are looked at.
    """
    own = [key for key in keys if isinstance(key.expression, Column)]
    if determines_unit(source, (key.expression for key in own)):
        return unit_determined_columns(source, declared)
    public = tuple(key for key in own if public_key_source(source, (key,)) is not None)
    each = (Output(column, column) for column in columns(*values))
    listed = tuple(key for key in each if public_key_source(source, (key,)) is not None)
    key_source = public_key_source(source, (*public, *listed)) if public and listed else None
    if key_source is None or not isinstance(key_source.plan, Aggregate):
        return frozenset()
    group_columns = frozenset(k.expression for k in public if isinstance(k.expression, Column))
    return functions_of(group_columns, key_source.plan.source, declared)


def _is_of_one(output: AggregateOutput, dependent: frozenset[Column]) -> bool:
    return _is_one(output.call) and columns(*output.call.arguments) <= dependent


def _is_one(call: AggregateCall) -> bool:
    """Whether `call` gives the value itself where a group has but one."""
    return (
        call.function in _OF_ONE
        and call.filter is None
        and call.output_kind is OutputKind.VALUE
        and bool(columns(*call.arguments))
    )
