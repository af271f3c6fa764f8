"""convert_timezone(source, target, moment): which zones it takes, and its value."""

from __future__ import annotations

import datetime as dt
from typing import Final

from dpsql.plan.expression import Call, Literal, Scalar
from dpsql.plan.time_zone.zone_names import zone_named
from dpsql.plan.time_zone.zone_shift import ZoneShift, shift_between

CONVERSION: Final = "convert_timezone"
"""The name of the function: those of other engines that have it mean the same."""


def shift_named(source: object, target: object) -> ZoneShift | None:
    """The shift from local time of `source` to that of `target`, one of which is UTC.

    None if one of them isn't the name of a zone.
    """
    zones = [zone_named(zone) if isinstance(zone, str) else None for zone in (source, target)]
    first, last = zones
    return None if first is None or last is None else shift_between(first, last)


def shift_of(call: Call) -> ZoneShift:
    """The shift of `call`, a conversion, whose zones were accepted when it was bound."""
    names = [part.value if isinstance(part, Literal) else None for part in call.arguments[:2]]
    shift = shift_named(*names)
    if shift is None:
        raise LookupError("the rules of a time zone are gone")
    return shift


def converted(row: tuple[Scalar, ...]) -> Scalar:
    """The value of a conversion of `row`; OverflowError where Python has no such moment."""
    source, target, moment = row
    shift = shift_named(source, target)
    if shift is None or not isinstance(moment, dt.datetime):
        return None
    return shift.shifted(moment)
