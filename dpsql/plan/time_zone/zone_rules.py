"""A zone's offsets from UTC, read from the time zone database of the machine (RFC 8536).

The database has moments at which the offset changes, and behind them a rule for all years that
follow. Here changes are listed up to 2037, whether the database lists them or has the rule for
them, so that the same zone has the same changes everywhere.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from dpsql.plan.time_zone.zone_names import UTC

LAST_LISTED_YEAR: Final = 2037
"""The last year whose changes are listed one by one; those of later years follow a rule."""

DAY_SECONDS: Final = 86_400
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()


class Change(NamedTuple):
    """From `at`, in seconds of UTC since 1970, the offset is `offset`, in seconds east."""

    at: int
    offset: int


class YearlyChange(Struct, frozen=True):
    """A change of each year: on the first `weekday` (Sunday is 0) from `day` of `month` on.

    `second` counts the local time before the change, from midnight; it may be negative or beyond
    the day.
    """

    month: int
    day: int
    weekday: int
    second: int

    def at(self, year: int) -> int:
        """The change's local time in `year`, in seconds since 1970."""
        first = dt.date(year, self.month, self.day).toordinal() - _EPOCH_DAY
        return (first + (self.weekday - weekday(first)) % 7) * DAY_SECONDS + self.second


class DaylightRule(Struct, frozen=True):
    """Daylight time from the change `start` to the change `end` of each year, or over New Year."""

    standard: int
    daylight: int
    start: YearlyChange
    end: YearlyChange


class ZoneRules(Struct, frozen=True):
    """The offset `first`, then `changes` in order; after the last one, `daylight` where given."""

    first: int
    changes: tuple[Change, ...] = ()
    daylight: DaylightRule | None = None


def weekday(day: int) -> int:
    """The weekday of the day so many days after 1 January 1970; Sunday is 0."""
    return (day + 4) % 7


@lru_cache(maxsize=1024)
def rules_of(zone: str) -> ZoneRules | None:
    """The offsets of `zone`; None if the machine has no such zone, or a rule of another form."""
    if zone == UTC:
        return ZoneRules(0)
    data = _file_of(zone)
    return None if data is None else _read(data)


def _file_of(zone: str) -> bytes | None:
    """The bytes of the file of `zone`, a name that the time zone database listed."""
    from zoneinfo import TZPATH  # noqa: PLC0415 - few statements name a zone

    for folder in TZPATH:
        path = Path(folder, *zone.split("/"))
        if path.is_file():
            return path.read_bytes()
    try:
        package = resources.files("tzdata") / "zoneinfo"
        return package.joinpath(*zone.split("/")).read_bytes()
    except (ModuleNotFoundError, FileNotFoundError):
        return None


_HEADER: Final = struct.Struct(">4sc15x6l")


def _read(data: bytes) -> ZoneRules | None:
    """The rules in a file of version 2 or later, whose second part has times of 64 bits."""
    magic, version, utc, standard, leaps, times, types, letters = _HEADER.unpack_from(data)
    if magic != b"TZif" or version < b"2":
        return None
    at = _HEADER.size + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
    magic, version, utc, standard, leaps, times, types, letters = _HEADER.unpack_from(data, at)
    at += _HEADER.size
    moments = struct.unpack_from(f">{times}q", data, at)
    kinds = data[at + times * 8 : at + times * 9]
    at += times * 9
    offsets = [struct.unpack_from(">l", data, at + kind * 6)[0] for kind in range(types)]
    end = at + types * 6 + letters + leaps * 12 + standard + utc
    if leaps:
        return None
    listed = [Change(m, offsets[kind]) for m, kind in zip(moments, kinds, strict=True)]
    changes = _distinct(offsets[0], listed)
    footer = data[end:].strip().decode("ascii")
    if _FIXED.fullmatch(footer) or not footer:
        return ZoneRules(offsets[0], changes)
    rule = _rule(footer)
    if rule is None or not changes:
        return None
    return ZoneRules(offsets[0], _listed(changes, rule), rule)


def _distinct(first: int, listed: list[Change]) -> tuple[Change, ...]:
    """`listed` without those that change a zone's abbreviation alone."""
    changes: list[Change] = []
    for change in listed:
        if change.offset != (changes[-1].offset if changes else first):
            changes.append(change)
    return tuple(changes)


def _listed(changes: tuple[Change, ...], rule: DaylightRule) -> tuple[Change, ...]:
    """`changes`, and those of `rule` that follow them up to the last listed year."""
    last = changes[-1].at
    year = dt.date.fromordinal(last // DAY_SECONDS + _EPOCH_DAY).year
    following = [
        change
        for y in range(year, LAST_LISTED_YEAR + 1)
        for change in (
            Change(rule.start.at(y) - rule.standard, rule.daylight),
            Change(rule.end.at(y) - rule.daylight, rule.standard),
        )
        if change.at > last
    ]
    return (*changes, *_distinct(changes[-1].offset, sorted(following)))


_NAME: Final = r"(?:<[^>]+>|[A-Za-z]+)"
_OFFSET: Final = r"([+-]?\d{1,3}(?::\d\d){0,2})"
_DATE: Final = r"M(\d{1,2})\.([1-5])\.([0-6])(?:/([+-]?\d{1,3}(?::\d\d){0,2}))?"
_FIXED: Final = re.compile(_NAME + _OFFSET)
_YEARLY: Final = re.compile(f"{_NAME}{_OFFSET}{_NAME}{_OFFSET}?,{_DATE},{_DATE}")
_HOUR: Final = 3600
_TWO_O_CLOCK: Final = 2 * _HOUR


def _rule(footer: str) -> DaylightRule | None:
    """The rule of POSIX's notation, such as CET-1CEST,M3.5.0,M10.5.0/3; None if it has others."""
    match = _YEARLY.fullmatch(footer)
    if match is None:
        return None
    west, daylight, *dates = match.groups()
    standard = -_seconds(west)
    start, end = _yearly(*dates[:4]), _yearly(*dates[4:])
    if start is None or end is None:
        return None
    return DaylightRule(
        standard, standard + _HOUR if daylight is None else -_seconds(daylight), start, end
    )


def _yearly(month: str, week: str, on: str, time: str | None) -> YearlyChange | None:
    """The last `on` of a month is the first one of its last seven days, which February varies."""
    number = int(month)
    second = _TWO_O_CLOCK if time is None else _seconds(time)
    if int(week) < 5:
        return YearlyChange(number, 1 + 7 * (int(week) - 1), int(on), second)
    if number == 2:
        return None
    last = (dt.date(2000 + number // 12, number % 12 + 1, 1) - dt.timedelta(days=1)).day
    return YearlyChange(number, last - 6, int(on), second)


def _seconds(text: str) -> int:
    hours, *rest = text.lstrip("+-").split(":")
    minutes, seconds = (*map(int, rest), 0, 0)[:2]
    size = int(hours) * _HOUR + minutes * 60 + seconds
    return -size if text.startswith("-") else size
