"""The function from UTC to a zone's local time, and back: what is added to a moment, by when it is.

Local times that a change skips, and those that it repeats, are read as PostgreSQL reads them: a
skipped one by the offset before the change, a repeated one by the offset after it. So the way back
from local time has one offset from each change's local time by the new offset on.
"""

from __future__ import annotations

import datetime as dt
import itertools
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from dpsql.plan.time_zone.zone_names import UTC
from dpsql.plan.time_zone.zone_rules import (
    DAY_SECONDS,
    DaylightRule,
    YearlyChange,
    ZoneRules,
    rules_of,
    weekday,
)
from dpsql.privacy.domain import Interval, coordinate

SECOND: Final = 1_000_000
"""The microseconds of a second."""

_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()


class YearlyStep(NamedTuple):
    """A step of each year, `second` after midnight of a day of the moments that are shifted.

    The day is the first `weekday` (Sunday is 0) that isn't before `month_day`, month * 100 + day.
    """

    month_day: int
    weekday: int
    second: int

    def is_past(self, seconds: int) -> bool:
        """Whether the step of the year of `seconds`, since 1970, is past, and a week or less."""
        day = (seconds - self.second) // DAY_SECONDS
        date = dt.date.fromordinal(day - (weekday(day) - self.weekday) % 7 + _EPOCH_DAY)
        return date.month * 100 + date.day >= self.month_day


class YearlyShift(Struct, frozen=True):
    """`daylight` seconds from `start` to `end` of each year, or over New Year, else `standard`."""

    standard: int
    daylight: int
    start: YearlyStep
    end: YearlyStep

    @property
    def is_over_new_year(self) -> bool:
        """Daylight time begins in one year and ends in the next."""
        return self.start.month_day > self.end.month_day

    def at(self, seconds: int) -> int:
        """What is added to the moment `seconds` after 1970.

        Around New Year, when the steps of one year are already those of the next and the others
        aren't yet, no step is near.
        """
        month = dt.date.fromordinal(seconds // DAY_SECONDS + _EPOCH_DAY).month
        begun, ended = self.start.is_past(seconds), self.end.is_past(seconds)
        if month in NEW_YEAR:
            is_daylight = self.is_over_new_year
        else:
            is_daylight = (begun or not ended) if self.is_over_new_year else (begun and not ended)
        return self.daylight if is_daylight else self.standard


NEW_YEAR: Final = (1, 12)
"""The months at whose other end a year begins."""


class ZoneShift(Struct, frozen=True):
    """What is added to a moment, in seconds: `offsets[n]` from `starts[n - 1]` to `starts[n]`.

    From the last of `starts` on it is `yearly`, where that is given. `starts` are in order, in
    seconds since 1970 of the moments that are shifted.
    """

    offsets: tuple[int, ...]
    starts: tuple[int, ...] = ()
    yearly: YearlyShift | None = None

    def shifted(self, moment: dt.datetime) -> dt.datetime:
        """The moment that `moment` is; OverflowError where Python has none."""
        number = coordinate(moment)
        assert number is not None
        seconds = int(number // SECOND)
        index = bisect_right(self.starts, seconds)
        by_rule = self.yearly is not None and index == len(self.starts)
        offset = self.yearly.at(seconds) if self.yearly and by_rule else self.offsets[index]
        return moment + dt.timedelta(seconds=offset)

    def image(self, moments: Interval) -> Interval:
        """An interval, in microseconds, that holds all shifted moments of the interval `moments`.

        It is as wide as the largest and the smallest offset of any of them make it.
        """
        first = 0 if moments.low is None else bisect_right(self.starts, moments.low // SECOND)
        last = (
            len(self.starts)
            if moments.high is None
            else bisect_right(self.starts, moments.high // SECOND)
        )
        offsets = set(self.offsets[first : last + 1])
        if self.yearly is not None and last == len(self.starts):
            offsets |= {self.yearly.standard, self.yearly.daylight}
        return moments + Interval(Fraction(min(offsets) * SECOND), Fraction(max(offsets) * SECOND))


@lru_cache(maxsize=1024)
def shift_between(source: str, target: str) -> ZoneShift | None:
    """From local time of the zone `source` to that of `target`, one of which is UTC.

    None if neither is, or if a zone's rules aren't known, or overlap.
    """
    zone = target if source == UTC else source
    rules = rules_of(zone) if UTC in (source, target) else None
    if rules is None:
        return None
    shift = _from_utc(rules) if source == UTC else _to_utc(rules)
    ordered = all(earlier < later for earlier, later in itertools.pairwise(shift.starts))
    return shift if ordered else None


def _from_utc(rules: ZoneRules) -> ZoneShift:
    daylight = rules.daylight
    return ZoneShift(
        (rules.first, *(change.offset for change in rules.changes)),
        tuple(change.at for change in rules.changes),
        None
        if daylight is None
        else YearlyShift(
            daylight.standard,
            daylight.daylight,
            _step(daylight.start, -daylight.standard),
            _step(daylight.end, -daylight.daylight),
        ),
    )


def _to_utc(rules: ZoneRules) -> ZoneShift:
    daylight = rules.daylight
    return ZoneShift(
        (-rules.first, *(-change.offset for change in rules.changes)),
        tuple(change.at + change.offset for change in rules.changes),
        None if daylight is None else _yearly_to_utc(daylight),
    )


def _yearly_to_utc(rule: DaylightRule) -> YearlyShift:
    """Each step is at the local time of its change by the offset after it."""
    ahead = rule.daylight - rule.standard
    return YearlyShift(
        -rule.standard, -rule.daylight, _step(rule.start, ahead), _step(rule.end, -ahead)
    )


def _step(change: YearlyChange, later: int) -> YearlyStep:
    return YearlyStep(change.month * 100 + change.day, change.weekday, change.second + later)
