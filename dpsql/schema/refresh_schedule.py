"""How often budgets are refreshed, and the period of days that one budget is for."""

from __future__ import annotations

import datetime as dt
from enum import Enum

from msgspec import Struct


class RefreshInterval(Enum):
    """How often a budget is refreshed."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Period(Struct, frozen=True):
    """The days from `first` to before `after`, by UTC, whose rows share one budget."""

    interval: RefreshInterval
    name: str
    first: dt.date
    after: dt.date
