"""Sums of units whose every row is in one group are read, where they stand ready, and not made.

count, sum(o_totalprice) by c_mktsegment from orders ⋈ customer; 40 rows of a unit count

light  units of at most 40 orders ⋈ customer    sum(rows), sum(sum of o_totalprice) GROUP BY segment
rest   orders of other units ⋈ customer          GROUP BY unit; scale, clamp; then GROUP BY segment

That is so where the unit determines all keys, by verified keys, and what is joined or filtered asks
nothing of the rows but whose they are: then a unit has all of its rows, each once, or none. For a
light one their sums, each within the column's bounds, would be neither scaled nor clamped.

Asked for orders of one year, a unit has fewer rows than its sums are of; and by year, they lie in
several groups. A condition on the customer leaves all of them or none.

What is read is no more than what so many rows could be, which is enforced: a file that says more is
wrong, and its rows of that unit count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dpsql.engine.beside import ROWS
from dpsql.engine.unit_sums import sum_of, values_of
from dpsql.plan.bounded import StoredSum, Terms, UnitSums
from dpsql.plan.expression import Column, Compare, Comparison, Literal
from dpsql.plan.operator import Filter, Join, Plan, Project, Ready, Scan
from dpsql.plan.statistic import Amount, Measured, Ones, Presence, Present, Statistic
from dpsql.plan.tree import columns, operators, sources
from dpsql.rewrite.fact import Facts
from dpsql.rewrite.limit import free_keys
from dpsql.rewrite.prune import prune
from dpsql.schema.model import EntityUnit, Table
from dpsql.schema.summed import Summed, summed
from dpsql.schema.type import BIGINT, Integer
from dpsql.stability.stem import Stem, over

NUMBER = Integer(16, signed=False)
"""The type of numbers of rows."""


def unit_sums(terms: Terms, found: Stem, facts: Facts, number: int, most: int) -> UnitSums | None:
    """The sums of units of at most `most` rows, if they stand ready; columns go from `number`."""
    scan = found.scan
    ready = summed(scan.table)
    if ready is None or free_keys(terms, facts.verified):
        return None
    asked = _asked(terms, found)
    if asked is None or not all(_names_unit(column, scan.table) for column in asked):
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
    own = tuple(column for column in scan.columns if _names_unit(column, scan.table))
    units = replace(scan, columns=(*own, *added), ready=Ready.UNITS)
    few = Filter(units, Compare(Comparison.LESS_EQUAL, rows, Literal(most, NUMBER)))
    read = columns(*(key.expression for key in terms.keys)) | {*added}
    source = prune(over(terms.source, found, few, added), read)
    return UnitSums(replace(terms, source=source), rows, tuple(map(stored.get, names)))


def _asked(terms: Terms, found: Stem) -> frozenset[Column] | None:
    """The scan's columns that are read by the keys, or on the way to them; None if not known."""
    own: dict[Column, Column] = {column: column for column in found.scan.columns}
    read: set[Column] = set()
    for operator in reversed(list(_way(terms.source, found.scan))):
        match operator:
            case Filter(predicate=predicate):
                read |= columns(predicate)
            case Join(on=on):
                read |= columns(*on)
            case Project(outputs=outputs):
                handed = {o.column: o.expression for o in outputs}
                own |= {c: own[e] for c, e in handed.items() if isinstance(e, Column) and e in own}
                read |= columns(*(e for e in handed.values() if not isinstance(e, Column)))
            case _:
                return None
    read |= columns(*(key.expression for key in terms.keys))
    return frozenset(own[column] for column in read if column in own)


def _way(plan: Plan, scan: Scan) -> Iterator[Plan]:
    """The operators above `scan`, from the top."""
    while plan != scan:
        yield plan
        (plan,) = (source for source in sources(plan) if scan in operators(source))


def _names_unit(column: Column, table: Table) -> bool:
    own = table.ownership
    return isinstance(own, EntityUnit) and not own.hops and column.name == own.column


def _stands(statistic: Statistic, found: Stem, ready: Mapping[str, Summed]) -> str | None:
    """The column whose sum, or number of values, the statistic is; `ROWS` if it is of all rows."""
    if statistic.filter is not None:
        return None
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
