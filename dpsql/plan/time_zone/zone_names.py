"""Names of time zones: those of the time zone database by region and city, and those of UTC.

Abbreviations aren't among them: CET is one offset to some databases, and two to others. Nor are
offsets, whose sign is the opposite in PostgreSQL's names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

UTC: Final = "UTC"

_UTC_NAMES: Final = frozenset({"utc", "gmt", "z", "zulu", "uct", "universal", "greenwich"})
_UTC_PREFIX: Final = "etc/"


def zone_named(name: str) -> str | None:
    """The zone that `name` stands for, whatever its case; None if there is none."""
    folded = name.casefold()
    if folded.removeprefix(_UTC_PREFIX) in _UTC_NAMES:
        return UTC
    return _zones().get(folded)


@cache
def _zones() -> Mapping[str, str]:
    from zoneinfo import available_timezones  # noqa: PLC0415 - few statements name a zone

    return MappingProxyType(
        {name.casefold(): name for name in available_timezones() if "/" in name}
    )
