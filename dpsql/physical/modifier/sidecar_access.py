"""Private tables are read from the sidecar, where rows are stored with their units.

That changes no row of the plan: which rows there are, whose they are, and every limit stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

from dpsql.bounding.public_facts import Facts
from dpsql.engine.sidecar.row_columns import (
    COUNT_CAP,
    COUNT_KINDS,
    MONTH_KINDS,
    UNIT_ROW_COUNT,
    first_row_column,
    many_values_column,
    out_of_range_column,
)
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.physical.modifier.clamp_elimination import OUT_OF_RANGE_TYPE
from dpsql.plan.bounded_release.bounded_release import (
    ByStoredRank,
    Contributions,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    contributions_of,
)
from dpsql.plan.operator import Plan, Release, Scan, SidecarAccess
from dpsql.plan.traversal import operators, replace_sources
from dpsql.schema.model import Column as Declared
from dpsql.schema.model import Table
from dpsql.schema.sidecar_columns import (
    group_count_columns,
    month_count_columns,
    month_of,
    range_checked_columns,
)
from dpsql.schema.sql_type import Boolean, Integer
from dpsql.structs import replace

COUNT_TYPE: Final = Integer(32)
"""The type of what is counted beside each row of a sidecar, in a file and on a server."""

UNIT_COUNT_TYPE: Final = Integer(16, signed=False)
"""The type of numbers of rows and values beside a unit; times an end of bounds they fit 64."""


def with_sidecar(limited: Limited, facts: Facts) -> Limited:
    """`limited` over the tables of the sidecar; releases below are read as tables, as always."""
    terms = contributions_of(limited)
    source = _with_sidecar(terms.source, facts.in_sidecar, SidecarAccess.ROWS)
    return _over(limited, replace(terms, source=source))


def with_server_sidecar(limited: Limited, sidecar: ServerSidecar) -> Limited | None:
    """`limited` over the rows that `sidecar` has on a server; None if it has none of its tables."""
    terms = contributions_of(limited)
    source = _with_sidecar(
        terms.source,
        lambda table: sidecar.table(table.name) is not None,
        SidecarAccess.ON_SERVER,
    )
    return None if source == terms.source else _over(limited, replace(terms, source=source))


def without_sidecar(limited: Limited) -> Limited:
    """`limited` where no sidecar stores ranks: a unit's groups are chosen by what is computed."""
    match limited:
        case LimitGroups(limit=ByStoredRank(without_sidecar=computed)):
            return replace(limited, limit=computed)
        case _:
            return limited


def sidecar_tables(limited: Limited) -> frozenset[str]:
    """The names of the tables that are read from the sidecar."""
    plans = operators(contributions_of(limited).source)
    return frozenset(
        plan.table.name for plan in plans if isinstance(plan, Scan) and plan.sidecar is not None
    )


def _over(limited: Limited, contributions: Contributions) -> Limited:
    match limited:
        case OneRowPerUnit():
            return replace(limited, source=contributions)
        case LimitGroups(source=clamped):
            sums = replace(clamped.source, source=contributions)
            return replace(limited, source=replace(clamped, source=sums))
        case missing:
            assert_never(missing)


def _with_sidecar(plan: Plan, has: Callable[[Table], bool], access: SidecarAccess) -> Plan:
    match plan:
        case Release():
            return plan
        case Scan(table=table, unit=unit):
            return replace(plan, sidecar=access) if unit is not None and has(table) else plan
        case _:
            return replace_sources(lambda source: _with_sidecar(source, has, access), plan)


def with_sidecar_columns(table: Table) -> Table:
    """`table` with the columns that a sidecar stores beside its rows."""
    names = [UNIT_ROW_COUNT]
    names += [name(c) for c in group_count_columns(table) for name in COUNT_KINDS]
    names += [name(month_of(c)) for c in month_count_columns(table) for name in MONTH_KINDS]
    added = {n: Declared(n, COUNT_TYPE, bounds=(0, COUNT_CAP), nullable=False) for n in names}
    added |= {
        name: Declared(name, Boolean(), nullable=False)
        for name in map(first_row_column, group_count_columns(table))
    }
    added |= {
        name: Declared(name, OUT_OF_RANGE_TYPE, bounds=(0, 1), nullable=False)
        for name in (
            *(out_of_range_column(column.name) for column in range_checked_columns(table)),
            *map(many_values_column, group_count_columns(table)),
        )
    }
    return replace(table, columns={**table.columns, **added})
