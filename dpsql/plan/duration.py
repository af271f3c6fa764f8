"""Lengths of time as SQL counts them: months, days and microseconds, which don't convert."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, Self

DAY: Final = 86_400_000_000
"""Microseconds of a day without a leap second, which SQL has none of."""

_TEXT = re.compile(r"(-?\d+) months (-?\d+) days (-?\d+) microseconds")


class Unit(NamedTuple):
    """`size` months, or `size` microseconds."""

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
"""The units that a moment can be truncated to and that differences are counted in."""

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
    """The unit that DuckDB calls `name` too, None if it is none."""
    return _NAMES.get(name.lower())


@dataclass(frozen=True, slots=True)
class Duration:
    """So many months, and days, and microseconds."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __str__(self) -> str:
        """How it stands in a literal: DuckDB reads it, and so does `read`."""
        return f"{self.months} months {self.days} days {self.microseconds} microseconds"

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The inverse of `str`."""
        found = _TEXT.fullmatch(text)
        return cls(*map(int, found.groups())) if found else None

    @property
    def fits(self) -> bool:
        """An INTERVAL holds it: 32 bits for months, and for days, and 64 for microseconds."""
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
        """`15 minutes`, for people."""
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
    """The largest unit that counts it without rest."""
    for name in ("year", "month") if months else ("hour", "minute", "second", "microsecond"):
        if count % UNITS[name].size == 0:
            return UNITS[name].size, name
    return 1, "microsecond"
