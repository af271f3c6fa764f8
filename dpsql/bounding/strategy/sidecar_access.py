"""Private tables are read from the sidecar where their rows stand ready with their units.

That changes no row of the plan: which rows there are, whose they are, and every limit stay.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.bounding.public_facts import Facts
from dpsql.bounding.strategy.clamp_elimination import OUT_OF_RANGE_TYPE
from dpsql.bounding.strategy.stored_unit_sums import NUMBER
from dpsql.engine.sidecar.row_columns import (
    COUNT_CAP,
    UNIT_ROW_COUNT,
    first_row_column,
    group_rank_column,
    out_of_range_column,
    value_count_column,
)
from dpsql.plan.operator import Plan, Release, Scan, SidecarAccess
from dpsql.plan.traversal import replace_sources
from dpsql.schema.model import Column as Declared
from dpsql.schema.model import Table
from dpsql.schema.sidecar_columns import group_count_columns, range_checked_columns
from dpsql.schema.sql_type import Boolean


def from_sidecar(release: Release, facts: Facts) -> Release:
    """`release` over what stands ready; releases below it are read as tables, not made again."""
    return replace(release, source=_with_sidecar(release.source, facts))


def _with_sidecar(plan: Plan, facts: Facts) -> Plan:
    match plan:
        case Release():
            return plan
        case Scan(table=table, unit=unit):
            is_ready = unit is not None and facts.in_sidecar(table)
            return replace(plan, sidecar=SidecarAccess.ROWS) if is_ready else plan
        case _:
            return replace_sources(lambda source: _with_sidecar(source, facts), plan)


def with_sidecar_columns(table: Table) -> Table:
    """`table` with the columns that stand beside its rows in a sidecar."""
    names = [UNIT_ROW_COUNT]
    names += [
        name(c)
        for c in group_count_columns(table)
        for name in (value_count_column, group_rank_column)
    ]
    added = {n: Declared(n, NUMBER, bounds=(0, COUNT_CAP), nullable=False) for n in names}
    added |= {
        name: Declared(name, Boolean(), nullable=False)
        for name in map(first_row_column, group_count_columns(table))
    }
    added |= {
        name: Declared(name, OUT_OF_RANGE_TYPE, bounds=(0, 1), nullable=False)
        for name in (out_of_range_column(column.name) for column in range_checked_columns(table))
    }
    return replace(table, columns={**table.columns, **added})
