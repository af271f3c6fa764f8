"""Sums of units whose every row is in one group are read, where they stand ready, and not made.

count, sum(o_totalprice) by c_mktsegment from orders ⋈ customer; 40 rows of a unit count

light  units of at most 40 orders ⋈ customer    sum(rows), sum(sum of o_totalprice) GROUP BY segment
rest   orders of other units ⋈ customer          GROUP BY unit; scale, clamp; then GROUP BY segment

That is so where the unit determines all keys, by verified keys, and what is joined or filtered asks
nothing of the rows but whose they are: then a unit has all of its rows, each once, or none. For a
light one their sums, each within the column's bounds, would be neither scaled nor clamped.

Asked for orders of one year, a unit has fewer rows than its sums are of; and by year, they lie in
several groups. A condition on the customer leaves all of them or none, also one of a single sum.

What is read is no more than what so many rows could be, which is enforced: a file that says more is
wrong, and its rows of that unit count for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsql.analysis.lineage.row_source import RowSource, replace_source
from dpsql.bounding.contribution_limit import unit_independent_keys
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.strategy.owner_join_elimination import OwnerJoinElimination
from dpsql.engine.sidecar.row_columns import UNIT_ROW_COUNT
from dpsql.engine.sidecar.unit_sums import sum_of, values_of
from dpsql.plan.bounded_release.bounded_release import Contributions, StoredSum, StoredUnitSums
from dpsql.plan.bounded_release.statistic import (
    Discretized,
    NonNullCount,
    RowCount,
    Statistic,
    Sum,
    UnitCount,
)
from dpsql.plan.expression import Column, Compare, Comparison, Literal
from dpsql.plan.operator import Filter, SidecarAccess
from dpsql.plan.prune_columns import prune
from dpsql.plan.traversal import columns
from dpsql.schema.sidecar_columns import SummedColumn, unit_sum_columns
from dpsql.schema.sql_type import BIGINT, Integer

NUMBER = Integer(16, signed=False)
"""The type of numbers of rows."""


def stored_unit_sums(
    contributions: Contributions,
    rows_of: RowSource,
    elimination: OwnerJoinElimination,
    facts: Facts,
    number: int,
    max_rows: int,
) -> StoredUnitSums | None:
    """The stored sums of units of at most `max_rows` rows, if any; columns go from `number`."""
    ready = unit_sum_columns(rows_of.scan.table)
    if (
        ready is None
        or unit_independent_keys(contributions, facts.verified)
        or not elimination.reads_unit_only
    ):
        return None
    by_name = {each.column.name: each for each in ready}
    names: list[str] = []
    for statistic in contributions.statistics:
        name = _stored_sum(statistic, rows_of, by_name)
        if name is None:
            return None
        names.append(name)
    rows = Column(number, UNIT_ROW_COUNT, NUMBER)
    stored = {
        name: StoredSum(
            Column(number + 1 + 2 * place, values_of(name), NUMBER),
            Column(number + 2 + 2 * place, sum_of(name), BIGINT),
        )
        for place, name in enumerate(sorted({*names} - {UNIT_ROW_COUNT}))
    }
    added = (rows, *(c for each in stored.values() for c in (each.values, each.total)))
    own = sorted(elimination.units, key=lambda column: column.id)
    units = replace(elimination.scan, columns=(*own, *added), sidecar=SidecarAccess.UNITS)
    few = Filter(units, Compare(Comparison.LESS_EQUAL, rows, Literal(max_rows, NUMBER)))
    filters = (statistic.filter for statistic in contributions.statistics)
    read = columns(*(key.expression for key in contributions.keys), *filters) | {*added}
    rows_of = replace(rows_of, scan=elimination.scan)
    source = prune(replace_source(elimination.contributions.source, rows_of, few, added), read)
    return StoredUnitSums(
        replace(contributions, source=source), rows, tuple(map(stored.get, names))
    )


def _stored_sum(
    statistic: Statistic, source: RowSource, stored: Mapping[str, SummedColumn]
) -> str | None:
    """The column whose sum or number of values it is; `UNIT_ROW_COUNT` if it is of all rows."""
    match statistic.term:
        case RowCount() | UnitCount():
            return UNIT_ROW_COUNT
        case NonNullCount(argument=Column() as argument):
            column = source.columns.get(argument)
            return column.name if column is not None and column.name in stored else None
        case Sum(value=Discretized(argument=Column() as argument) as value):
            column = source.columns.get(argument)
            each = None if column is None else stored.get(column.name)
            wanted = value.step, value.low, value.high
            if each is None or (each.step, each.low, each.high) != wanted:
                return None
            return each.column.name
        case _:
            return None
