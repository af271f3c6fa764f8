"""Refreshed budgets: a private table's rows are those of the period whose budget is charged."""

from __future__ import annotations

import datetime as dt

from dpsql.plan.expression import And, Compare, Comparison, Literal
from dpsql.plan.operator import Filter, Plan, Scan
from dpsql.schema.refresh_schedule import Period
from dpsql.schema.sql_type import Date


def of_period(scan: Scan, period: Period | None) -> Plan:
    """The rows of `scan` whose time is in `period`; all rows if None, or if the table has no time.

    A row whose time is NULL is in no period, and never read.
    """
    if period is None or scan.table.time is None:
        return scan
    time = next(c for c in scan.columns if c.name == scan.table.time)
    first, after = period.first, period.after
    if not isinstance(time.type, Date):
        first, after = (dt.datetime.combine(day, dt.time()) for day in (first, after))
    return Filter(
        scan,
        And(
            (
                Compare(Comparison.GREATER_EQUAL, time, Literal(first, time.type)),
                Compare(Comparison.LESS, time, Literal(after, time.type)),
            )
        ),
    )
