"""Lengths of time as SQL counts them: months, days and microseconds, which don't convert."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple, Self

from msgspec import Struct

DAY: Final = 86_400_000_000
"""Microseconds of a day; SQL has no leap seconds."""

_TEXT = re.compile(r"(-?\d+) months (-?\d+) days (-?\d+) microseconds")


class Unit(NamedTuple):
    """A length of `size` months if `months`, else of `size` microseconds."""

    size: int
    months: bool


UNITS: Final = {
    "millennium": Unit(12_000, months=True),
    "century": Unit(1_200, months=True),
    "decade": Unit(120, months=True),
    "year": Unit(12, months=True),
    "quarter": Unit(3, months=True),
    "month": Unit(1, months=True),
    "week": Unit(7 * DAY, months=False),
    "day": Unit(DAY, months=False),
    "hour": Unit(DAY // 24, months=False),
    "minute": Unit(60_000_000, months=False),
    "second": Unit(1_000_000, months=False),
    "millisecond": Unit(1_000, months=False),
    "microsecond": Unit(1, months=False),
}
"""The units that a timestamp can be truncated to, and that differences are counted in."""

_ABBREVIATED: Final = {
    "millennium": "millennia mil mils millenium millenniums",
    "century": "centuries cent c",
    "decade": "decades dec decs",
    "year": "years yr yrs y",
    "quarter": "quarters",
    "month": "months mon mons",
    "week": "weeks w",
    "day": "days d",
    "hour": "hours hr hrs h",
    "minute": "minutes min mins m",
    "second": "seconds sec secs s",
    "millisecond": "milliseconds ms msec msecs",
    "microsecond": "microseconds us usec usecs",
}

_NAMES: Final = {
    name: unit for unit, names in _ABBREVIATED.items() for name in (unit, *names.split())
}


def unit_named(name: str) -> str | None:
    """The unit that DuckDB also calls `name`; None if there is none."""
    return _NAMES.get(name.lower())


class Duration(Struct, frozen=True):
    """A length of time: months, days and microseconds."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __str__(self) -> str:
        """The text of the length in a literal, which DuckDB and `read` parse."""
        return f"{self.months} months {self.days} days {self.microseconds} microseconds"

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The duration whose `str` is `text`; None if `text` isn't such a text."""
        match = _TEXT.fullmatch(text)
        return cls(*map(int, match.groups())) if match else None

    @property
    def fits(self) -> bool:
        """An INTERVAL can hold it: months and days have 32 bits each, microseconds 64."""
        return max(map(abs, self.parts[:2])) < 2**31 and abs(self.microseconds) < 2**63

    @property
    def parts(self) -> tuple[int, int, int]:
        """Months, days, microseconds."""
        return self.months, self.days, self.microseconds

    def __add__(self, other: Duration) -> Duration:
        return Duration(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __neg__(self) -> Duration:
        return self * -1

    def __mul__(self, count: int) -> Duration:
        return Duration(*(part * count for part in self.parts))

    def describe(self) -> str:
        """The length for people, `15 minutes`."""
        shown = [
            f"{Fraction(count, size).numerator} {name}{'' if abs(count) == size else 's'}"
            for count, size, name in (
                (self.months, *_largest(self.months, months=True)),
                (self.days, 1, "day"),
                (self.microseconds, *_largest(self.microseconds, months=False)),
            )
            if count
        ]
        return " ".join(shown) or "0 seconds"


def _largest(count: int, *, months: bool) -> tuple[int, str]:
    """The largest unit of which `count` is a multiple: its size and name."""
    for name in ("year", "month") if months else ("hour", "minute", "second", "microsecond"):
        if count % UNITS[name].size == 0:
            return UNITS[name].size, name
    return 1, "microsecond"
