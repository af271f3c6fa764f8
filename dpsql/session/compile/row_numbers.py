"""A plan whose rows say which row of a released table they are, by its number.

    SELECT month, avg(delay) FROM flights GROUP BY month ORDER BY 2 DESC LIMIT 3

Errors of means are known row by row, of the released table. What stands above it sorts rows, cuts
them and leaves some out, so that the number of each is carried up through it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from msgspec import Struct

from dpsql.plan.expression import Column, Literal
from dpsql.plan.operator import Filter, Limit, Output, Plan, Project, Release, Sort, Union, Window
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import operators
from dpsql.release.columns.integer_arrays import numbers
from dpsql.schema.sql_type import BIGINT
from dpsql.structs import replace


class NumberedRows(Struct, frozen=True):
    """A plan whose rows have in `row` their number, of the released table that they are from.

    `releases` are those whose tables are numbered, by what stands in their place in `plan`.
    """

    plan: Plan
    row: Column
    releases: Mapping[Release, Release]

    def tables(self, released: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """The released tables, by name, each with the numbers of its rows."""
        return {name: self._numbered(table) for name, table in released.items()}

    def _numbered(self, table: pa.Table) -> pa.Table:
        rows = numbers(np.arange(table.num_rows, dtype=np.int64))
        return table.append_column(f"c{self.row.id}", rows)


def numbered_rows(plan: Plan) -> NumberedRows | None:
    """`plan` with numbers of rows; None where no row of it is a released one as it is."""
    ids = (c.id for part in operators(plan) for c in output_columns(part))
    row = Column(1 + max(ids, default=0), "row", BIGINT)
    numbered = _numbered(plan, row)
    if numbered is None:
        return None
    changed = {part: _with_row(part, row) for part in operators(plan) if isinstance(part, Release)}
    return NumberedRows(numbered, row, {new: old for old, new in changed.items()})


def _with_row(release: Release, row: Column) -> Release:
    # It stands last among the keys; nothing groups by it, the table is there already.
    return replace(release, keys=(*release.keys, Output(row, row)))


def _numbered(plan: Plan, row: Column) -> Plan | None:
    match plan:
        case Release():
            return _with_row(plan, row)
        case Project(source=source, outputs=outputs):
            below = _numbered(source, row)
            passed = (*outputs, Output(row, row))
            return None if below is None else replace(plan, source=below, outputs=passed)
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            below = _numbered(source, row)
            return None if below is None else replace(plan, source=below)
        case Window(source=source):
            below = _numbered(source, row)
            return None if below is None else replace(plan, source=below)
        case Union(sources=arms, outputs=outputs):
            numbered = [_numbered(arm, row) for arm in arms]
            if all(arm is None for arm in numbered):
                return None
            pairs = zip(arms, numbered, strict=True)
            return replace(
                plan,
                sources=tuple(_arm(arm, below, row) for arm, below in pairs),
                outputs=(*outputs, row),
            )
        case _:
            return None


def _arm(arm: Plan, numbered: Plan | None, row: Column) -> Plan:
    """An arm of a union, whose columns are told apart by their order: the number stands last."""
    outputs = tuple(Output(column, column) for column in output_columns(arm))
    if numbered is None:
        return Project(arm, (*outputs, Output(row, Literal(None, row.type))))
    return Project(numbered, (*outputs, Output(row, row)))
