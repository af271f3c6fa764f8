"""Refresh windows: the rows of each day, week or month have a budget of their own.

Each row lies in one period, by its own time, and is read by that period's queries alone. So the
answers of one period reveal nothing about rows of another (parallel composition, McSherry 2009,
theorem 4): one ledger for each period bounds the loss of any row, whatever the clock says. An
entity has rows in many periods, and its losses would add up without an end: tables of entities have
no refreshed budget.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.load.file_format import TableSection
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.model import Public, RowUnit, Table
from dpsql.schema.refresh_schedule import Period, RefreshInterval
from dpsql.schema.sql_type import Date, Timestamp
from dpsql.structs import replace


def read_period(
    document: Document, every: RefreshInterval | None, distance: NeighborDistance, today: dt.date
) -> Period | None:
    """The period that contains `today`; None if budgets aren't refreshed (`every` is None).

    Raises SchemaFault where neighbours can differ in rows of two periods.
    """
    if every is None:
        return None
    if distance.units > 1:
        # A group may have rows in two periods, whose thresholds may both show it: δ would add up.
        raise document.error(
            ("group_size",), "rows of one group may lie in two periods", "write group_size: 1"
        )
    if distance.is_replacement:
        raise document.error(
            ("budget", "refresh"),
            "a row that is changed may lie in two periods",
            "write neighbors: add_remove",
        )
    return period_of(every, today)


def period_of(every: RefreshInterval, day: dt.date) -> Period:
    """The period that contains `day`."""
    match every:
        case RefreshInterval.DAY:
            return Period(every, day.isoformat(), day, day + dt.timedelta(days=1))
        case RefreshInterval.WEEK:
            first = day - dt.timedelta(days=day.weekday())
            year, week, _ = day.isocalendar()
            return Period(every, f"{year}-W{week:02}", first, first + dt.timedelta(days=7))
        case RefreshInterval.MONTH:
            first = day.replace(day=1)
            after = (first + dt.timedelta(days=31)).replace(day=1)
            return Period(every, f"{first:%Y-%m}", first, after)
        case RefreshInterval.YEAR:
            first = day.replace(month=1, day=1)
            return Period(every, f"{first:%Y}", first, first.replace(year=first.year + 1))


def attach_time_columns(
    document: Document,
    forms: Mapping[str, TableSection],
    tables: Mapping[str, Table],
    *,
    refreshed: bool,
) -> Mapping[str, Table]:
    """The tables with their time columns, which private ones need where budgets are refreshed.

    Raises SchemaFault for a private table without one, or of entities.
    """
    return {
        name: replace(table, time=_time(document, forms[name].time, table, refreshed=refreshed))
        for name, table in tables.items()
    }


def _time(document: Document, name: str | None, table: Table, *, refreshed: bool) -> str | None:
    path = ("tables", table.name, "time")
    if isinstance(table.ownership, Public) or not refreshed:
        if name is not None:
            raise document.error(
                path,
                "says when a private row is from, for a budget that is refreshed",
                "remove it, or add refresh: month to the budget",
            )
        return None
    if not isinstance(table.ownership, RowUnit):
        raise document.error(
            ("tables", table.name, "unit"),
            "an entity has rows in many periods, and what is learnt about it would add up",
            "remove refresh from the budget, or give rows that are units a dataset of their own",
        )
    if name is None:
        raise document.error(
            ("tables", table.name),
            "doesn't say when its rows are from",
            "add time: and the name of a date or timestamp column",
        )
    if name not in table.columns:
        raise document.unknown_key_error(
            path, "no such column", table.columns, "declare it, as a date or timestamp"
        )
    if not isinstance(table.columns[name].type, Date | Timestamp):
        raise document.error(path, "is neither a date nor a timestamp", "name one that is")
    return name
