"""Parts of dates and timestamps: year, month, hour, epoch, and their names."""

from __future__ import annotations

from dpsql.plan.duration import unit_named
from dpsql.plan.functions.domain_rules import finite_interval, monotone
from dpsql.plan.functions.function import Application, Function, Rule, Totalization
from dpsql.plan.functions.type_rules import times
from dpsql.privacy.domain import Domain
from dpsql.schema.sql_type import BIGINT, Double, SqlType, Varchar

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_TOTAL = frozenset({"year", "quarter", "month", "day"})
"""Those that raise of no moment, nor of the ends of its statistics; infinite ones have NULL."""

_SPECIFIERS = {"dow": "dayofweek", "doy": "dayofyear"}


def part_named(name: str) -> str | None:
    """The function of the part that extract() calls `name`; None if there is none."""
    folded = name.lower()
    return _SPECIFIERS.get(folded) or unit_named(folded) or (folded if folded in _PARTS else None)


def _part(name: str, rule: Rule, *aliases: str, gives: SqlType = BIGINT) -> Function:
    total = Totalization.PLAIN if name in _TOTAL else Totalization.TRY
    return Function(name, times(gives), rule, total, f"{name}(moment)", aliases)


def _named(names: tuple[str, ...]) -> Rule:
    def rule(application: Application) -> Domain:
        return Domain(values=names, nullable=application.out_of_domain)

    return rule


_growing = monotone()

PARTS = (
    _part("millennium", _growing),
    _part("century", _growing),
    _part("decade", _growing),
    _part("year", _growing),
    _part("isoyear", _growing),
    _part("yearweek", _growing),
    _part("quarter", finite_interval(1, 4)),
    _part("month", finite_interval(1, 12)),
    _part("week", finite_interval(1, 53), "weekofyear"),
    _part("dayofyear", finite_interval(1, 366)),
    _part("day", finite_interval(1, 31), "dayofmonth"),
    _part("dayofweek", finite_interval(0, 6), "weekday"),
    _part("isodow", finite_interval(1, 7)),
    _part("hour", finite_interval(0, 23)),
    _part("minute", finite_interval(0, 59)),
    _part("second", finite_interval(0, 59)),
    _part("millisecond", finite_interval(0, 59_999)),
    _part("microsecond", finite_interval(0, 59_999_999)),
    _part("epoch", _growing, gives=Double()),
    _part("julian", _growing, gives=Double()),
    _part("epoch_us", _growing),
    _part("epoch_ns", _growing),
    _part("dayname", _named(_DAYS), gives=Varchar()),
    _part("monthname", _named(_MONTHS), gives=Varchar()),
)

_PARTS = {name for part in PARTS for name in (part.name, *part.aliases)} - {"dayname", "monthname"}
