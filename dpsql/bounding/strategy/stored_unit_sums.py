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

from dpsql.analysis.lineage.row_source import Stem, over
from dpsql.bounding.contribution_limit import free_keys
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.strategy.owner_join_elimination import Direct
from dpsql.engine.sidecar.row_columns import ROWS
from dpsql.engine.sidecar.unit_sums import sum_of, values_of
from dpsql.plan.bounded_release.bounded_release import StoredSum, Terms, UnitSums
from dpsql.plan.bounded_release.statistic import (
    Amount,
    Measured,
    Ones,
    Presence,
    Present,
    Statistic,
)
from dpsql.plan.expression import Column, Compare, Comparison, Literal
from dpsql.plan.operator import Filter, Ready
from dpsql.plan.prune_columns import prune
from dpsql.plan.traversal import columns
from dpsql.schema.sidecar_columns import SummedColumn, summed
from dpsql.schema.sql_type import BIGINT, Integer

NUMBER = Integer(16, signed=False)
"""The type of numbers of rows."""


def unit_sums(
    terms: Terms, found: Stem, known: Direct, facts: Facts, number: int, most: int
) -> UnitSums | None:
    """The sums of units of at most `most` rows, if they stand ready; columns go from `number`."""
    ready = summed(found.scan.table)
    if ready is None or free_keys(terms, facts.verified) or not known.asks_units_alone:
        return None
    by_name = {each.column.name: each for each in ready}
    names: list[str] = []
    for statistic in terms.statistics:
        name = _stands(statistic, found, by_name)
        if name is None:
            return None
        names.append(name)
    rows = Column(number, ROWS, NUMBER)
    stored = {
        name: StoredSum(
            Column(number + 1 + 2 * place, values_of(name), NUMBER),
            Column(number + 2 + 2 * place, sum_of(name), BIGINT),
        )
        for place, name in enumerate(sorted({*names} - {ROWS}))
    }
    added = (rows, *(c for each in stored.values() for c in (each.values, each.total)))
    own = sorted(known.units, key=lambda column: column.id)
    units = replace(known.scan, columns=(*own, *added), ready=Ready.UNITS)
    few = Filter(units, Compare(Comparison.LESS_EQUAL, rows, Literal(most, NUMBER)))
    filters = (statistic.filter for statistic in terms.statistics)
    read = columns(*(key.expression for key in terms.keys), *filters) | {*added}
    found = replace(found, scan=known.scan)
    source = prune(over(known.terms.source, found, few, added), read)
    return UnitSums(replace(terms, source=source), rows, tuple(map(stored.get, names)))


def _stands(statistic: Statistic, found: Stem, ready: Mapping[str, SummedColumn]) -> str | None:
    """The column whose sum, or number of values, the statistic is; `ROWS` if it is of all rows."""
    match statistic.term:
        case Ones() | Presence():
            return ROWS
        case Present(argument=Column() as argument):
            column = found.columns.get(argument)
            return column.name if column is not None and column.name in ready else None
        case Amount(value=Measured(argument=Column() as argument) as value):
            column = found.columns.get(argument)
            each = None if column is None else ready.get(column.name)
            wanted = value.step, value.low, value.high
            if each is None or (each.step, each.low, each.high) != wanted:
                return None
            return each.column.name
        case _:
            return None
