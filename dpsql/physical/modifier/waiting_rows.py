"""Which rows of a release wait in memory for others of their unit, and of which tables they are.

Where rows are counted or summed by a table's key before, there are no more than that table has,
however many were read for them: a count of orders by customer, of 15 million orders, is 1.5 million
numbers. What is counted is read again for each batch, and takes no less memory in batches.

customers by their number of orders, of customer ⟕ orders: the rows of customer wait

A key is taken as it is declared, verified or not: more rows than it says take more memory, and no
integer changes. So it is where a value's state grows with its rows, as that of a median, or of
distinct values: then these rows wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.physical.selectivity import share_left
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.operator import Aggregate, Plan, Scan
from dpsql.plan.traversal import operators, sources

_OF_CONSTANT_SIZE: Final = (
    AggregateFunction.COUNT,
    AggregateFunction.SUM,
    AggregateFunction.AVG,
    AggregateFunction.MIN,
    AggregateFunction.MAX,
)
"""Functions whose value is computed of a state that is as large for many rows as for one."""


class WaitingRows(Struct, frozen=True):
    """Rows of `tables`, by name, of which conditions are expected to leave this `share`."""

    tables: tuple[str, ...]
    share: Fraction


def waiting_rows(plan: Plan) -> WaitingRows:
    """The rows that `plan` has, as the private tables' own."""
    above = list(_above(plan))
    scans = (each for each in above if isinstance(each, Scan) and each.unit is not None)
    return WaitingRows(tuple(sorted({scan.table.name for scan in scans})), share_left(above))


def _above(plan: Plan) -> Iterator[Plan]:
    """Its operators, but of what is grouped by a table's key nothing but that table."""
    scan = _keyed_scan(plan) if isinstance(plan, Aggregate) else None
    if scan is not None:
        yield scan
        return
    yield plan
    for source in sources(plan):
        yield from _above(source)


def _keyed_scan(aggregate: Aggregate) -> Scan | None:
    """The private table of whose key each value is one group at most, whose state is small."""
    calls = [output.call for output in aggregate.aggregates]
    if any(c.distinct or c.order or c.function not in _OF_CONSTANT_SIZE for c in calls):
        return None
    grouped = {key.expression for key in aggregate.keys}
    for scan in operators(aggregate.source):
        if not isinstance(scan, Scan) or scan.unit is None or scan.table.key is None:
            continue
        names = {column.name for column in scan.columns if column in grouped}
        if names.issuperset(scan.table.key):
            return scan  # of two, either has at least as many rows
    return None
