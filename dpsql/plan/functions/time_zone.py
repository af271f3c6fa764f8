"""Conversions between time zones: from UTC to a zone's local time, and back."""

from __future__ import annotations

import datetime as dt

from dpsql.plan.expression import Expression, Literal
from dpsql.plan.functions.function import Application, Function, Totalization
from dpsql.plan.functions.type_rules import fixed
from dpsql.plan.time_zone.conversion import CONVERSION, shift_named, shift_of
from dpsql.privacy.domain import Domain, of_values
from dpsql.schema.sql_type import Timestamp, Varchar


def _are_zones(arguments: tuple[Expression, ...]) -> bool:
    source, target = (part.value if isinstance(part, Literal) else None for part in arguments[:2])
    return shift_named(source, target) is not None


def _shifted(application: Application) -> Domain:
    """The domain of a conversion, which isn't monotone: an hour is repeated in autumn.

    Where both ends are known, no moment is so far that its conversion overflows.
    """
    shift, moments = shift_of(application.call), application.domains[2]
    if moments.bounds is None:
        return Domain(nullable=True)
    is_total = moments.bounds.ends is not None
    image = shift.image(moments.bounds)
    try:
        listed = [shift.shifted(v) for v in moments.values or () if isinstance(v, dt.datetime)]
    except OverflowError:
        return Domain(nullable=True)
    if listed:
        return of_values(tuple(dict.fromkeys(listed)), nullable=application.null)
    return Domain(image, nullable=application.null or not is_total)


ZONES = (
    Function(
        CONVERSION,
        fixed(Varchar(), Varchar(), Timestamp(), gives=Timestamp()),
        _shifted,
        Totalization.TRY,
        f"{CONVERSION}('UTC', 'Europe/Berlin', moment)",
        constants=frozenset({0, 1}),
        accepts=_are_zones,
    ),
)
