"""TPC-DS's tables of days and of seconds, by the specification's laws."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
from data.draw import Columns, Whole, identifiers

FIRST, LAST = date(1998, 1, 1), date(2003, 12, 31)
"""The days of the small database; the specification has those from 1900 to 2100."""

BEFORE_FIRST = 2415021
"""The Julian day number of 1900-01-01."""

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def day_key(day: date) -> int:
    """The key of a day: its Julian day number."""
    return BEFORE_FIRST + (day - date(1900, 1, 1)).days


def days() -> Columns:
    """date_dim. A week is numbered from Tuesday to Monday, as the benchmark's generator does it."""
    every = [FIRST + timedelta(n) for n in range((LAST - FIRST).days + 1)]
    keys = [day_key(day) for day in every]
    quarter = [(day.year - 1900) * 4 + (day.month - 1) // 3 + 1 for day in every]
    weeks = [(key - BEFORE_FIRST - 1) // 7 + 1 for key in keys]
    dow = [day.isoweekday() % 7 for day in every]
    holiday = ["Y" if (day.month, day.day) in ((1, 1), (7, 4), (12, 26)) else "N" for day in every]
    first = [day_key(day.replace(day=1)) for day in every]
    return {
        "d_date_sk": keys,
        "d_date_id": identifiers(np.array(keys)),
        "d_date": every,
        "d_month_seq": [(day.year - 1900) * 12 + day.month - 1 for day in every],
        "d_week_seq": weeks,
        "d_quarter_seq": quarter,
        "d_year": [day.year for day in every],
        "d_dow": dow,
        "d_moy": [day.month for day in every],
        "d_dom": [day.day for day in every],
        "d_qoy": [(day.month - 1) // 3 + 1 for day in every],
        "d_fy_year": [day.year for day in every],
        "d_fy_quarter_seq": quarter,
        "d_fy_week_seq": weeks,
        "d_day_name": [DAYS[n] for n in dow],
        "d_quarter_name": [f"{day.year}Q{(day.month - 1) // 3 + 1}" for day in every],
        "d_holiday": holiday,
        "d_weekend": ["Y" if n in (5, 6) else "N" for n in dow],
        "d_following_holiday": ["N", *holiday[:-1]],
        "d_first_dom": first,
        "d_last_dom": [f + 27 for f in first],
        "d_same_day_ly": [key - 365 for key in keys],
        "d_same_day_lq": [key - 92 for key in keys],
        "d_current_day": "N",
        "d_current_week": "N",
        "d_current_month": "N",
        "d_current_quarter": "N",
        "d_current_year": "N",
    }


def seconds() -> Columns:
    """time_dim: every second of a day."""
    time = np.arange(86_400)
    hour = time // 3600
    return {
        "t_time_sk": time,
        "t_time_id": identifiers(time),
        "t_time": time,
        "t_hour": hour,
        "t_minute": time // 60 % 60,
        "t_second": time % 60,
        "t_am_pm": np.where(hour < 12, "AM", "PM"),
        "t_shift": _by_hour(hour, (7, 15, 23), ("third", "first", "second", "third")),
        "t_sub_shift": _by_hour(hour, (6, 12, 17), ("night", "morning", "afternoon", "evening")),
        "t_meal_time": _by_hour(
            hour, (6, 10, 12, 15, 17, 20), ("", "breakfast", "", "lunch", "", "dinner", "")
        ),
    }


def _by_hour(hour: Whole, starts: tuple[int, ...], names: tuple[str, ...]) -> object:
    return np.array(names)[np.searchsorted(starts, hour, side="right")]
