"""Group keys of private rows that a join equates with a public column: that column replaces them.

    SELECT v.doctor_id, d.specialty, count(*) FROM visits v JOIN doctors d USING (doctor_id) …

By v.doctor_id every specialty would stand beside every doctor, with counts near 0; by d.doctor_id
the public rows tell which belong together. On each joined row both are the same.
"""

from __future__ import annotations

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.plan.expression import Column, matched
from dpsql.plan.operator import Filter, Join, MarkJoin, Output, Plan, Window
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns
from dpsql.schema.sql_type import Double
from dpsql.structs import replace


def with_public_keys(
    source: Plan, keys: tuple[Output, ...], more: frozenset[Column] = frozenset()
) -> tuple[Output, ...]:
    """`keys` with private columns replaced by the public columns that a join equates with them.

    A key is replaced if another key, or one of the columns `more`, is of the same public table.
    """
    join = source
    while isinstance(join, Filter | MarkJoin | Window):
        join = join.source
    if not isinstance(join, Join):
        return keys
    equal = _public(join)
    public_keys = list(keys)
    for index, key in enumerate(keys):
        others = columns(*(k.expression for n, k in enumerate(keys) if n != index)) | more
        for column, twin, siblings in equal:
            if key.expression == column and others & siblings:
                public_keys[index] = replace(key, expression=twin)
                break
    return tuple(public_keys)


def _public(join: Join) -> list[tuple[Column, Column, frozenset[Column]]]:
    """Private columns, the public column that each equals, and all columns of the public table."""
    public = [s for s in join.sources if visibility(s) is Visibility.PUBLIC]
    equal_columns: list[tuple[Column, Column, frozenset[Column]]] = []
    for left, right in matched(join.on):
        for column, twin in ((left, right), (right, left)):
            if not (isinstance(column, Column) and isinstance(twin, Column)):
                continue
            # Equal doubles may be two zeros.
            if column.type != twin.type or isinstance(twin.type, Double):
                continue
            equal_columns += [
                (column, twin, frozenset(output_columns(s)))
                for s in public
                if twin in output_columns(s) and column not in output_columns(s)
            ]
    return equal_columns
