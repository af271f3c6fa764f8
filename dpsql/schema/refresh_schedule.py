"""How often budgets are refreshed, and the days of each."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import Enum


class Every(Enum):
    """How often a budget is refreshed."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to before `after`, by UTC, whose rows share one budget."""

    every: Every
    name: str
    first: dt.date
    after: dt.date
