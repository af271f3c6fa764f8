"""Names of time zones: which PostgreSQL knows, and which are UTC."""

from __future__ import annotations

import re
from functools import cache
from typing import Final
from zoneinfo import available_timezones

_UTC: Final = frozenset(
    {"utc", "gmt", "z", "zulu", "uct", "universal", "greenwich", "local", "default"}
)
_OFFSET: Final = re.compile(
    r"(?:[a-z]{3,5}|<[^>]{1,10}>)?[+-]?\d{1,2}(?::?\d{2}){0,2}[a-z]{0,5}", re.IGNORECASE
)
_NOTHING: Final = re.compile(r"(?:utc|gmt)?[+-]?0{1,2}(?::?00){0,2}", re.IGNORECASE)


def is_zone(name: str) -> bool:
    """Whether `name` is a time zone that PostgreSQL knows, or an offset from UTC."""
    folded = name.strip().casefold()
    return is_utc(name) or folded in _names() or _OFFSET.fullmatch(folded) is not None


def is_utc(name: str) -> bool:
    """Whether `name` is a name for UTC."""
    folded = name.strip().casefold().removeprefix("etc/")
    return folded in _UTC or _NOTHING.fullmatch(folded) is not None


@cache
def _names() -> frozenset[str]:
    return frozenset(name.casefold() for name in available_timezones())
