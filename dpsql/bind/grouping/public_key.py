"""Group keys of private rows that a join says equal a public column: they are listed with it.

    SELECT v.doctor_id, d.specialty, count(*) FROM visits v JOIN doctors d USING (doctor_id) …

By v.doctor_id every specialty would stand beside every doctor, with counts near 0; by d.doctor_id
the public rows tell which belong together. On each joined row both are the same.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.plan.expression import Column, matched
from dpsql.plan.operator import Filter, Join, MarkJoin, Output, Plan, Window
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns
from dpsql.schema.sql_type import Double


def with_public_keys(
    source: Plan, keys: tuple[Output, ...], more: frozenset[Column] = frozenset()
) -> tuple[Output, ...]:
    """`keys`, of which those that equal a column beside another key, or `more`, are that column."""
    join = source
    while isinstance(join, Filter | MarkJoin | Window):
        join = join.source
    if not isinstance(join, Join):
        return keys
    equal = _public(join)
    found = list(keys)
    for place, key in enumerate(keys):
        others = columns(*(k.expression for n, k in enumerate(keys) if n != place)) | more
        for column, twin, beside in equal:
            if key.expression == column and others & beside:
                found[place] = replace(key, expression=twin)
                break
    return tuple(found)


def _public(join: Join) -> list[tuple[Column, Column, frozenset[Column]]]:
    """Columns of private rows, the public column that each equals, and what is beside that."""
    public = [s for s in join.sources if visibility(s) is Visibility.PUBLIC]
    found: list[tuple[Column, Column, frozenset[Column]]] = []
    for left, right in matched(join.on):
        for column, twin in ((left, right), (right, left)):
            if not (isinstance(column, Column) and isinstance(twin, Column)):
                continue
            # Equal doubles may be two zeros.
            if column.type != twin.type or isinstance(twin.type, Double):
                continue
            found += [
                (column, twin, frozenset(output_columns(s)))
                for s in public
                if twin in output_columns(s) and column not in output_columns(s)
            ]
    return found
