"""The settings that SET changes and SHOW tells, beside epsilon."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from dpsql.bounding.settings import AS_DECLARED, Settings
from dpsql.dbapi.statements.assignment import Change, Setting
from dpsql.errors import BadParameter
from dpsql.session.compile.loss_conversion import parse_epsilon, query_loss
from dpsql.session.session import Session

_TRUTH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_MOST = 2**31
_MOST_DIGITS = 10
_NOT_SET = {Setting.MAX_ERROR: "none", Setting.MAX_COST: "none"}


def change(session: Session, asked: Change, usual: Fraction) -> None:
    """Set what is `asked` in `session`, whose ε is `usual` by default; BadParameter says where."""
    try:
        if asked.setting is Setting.EPSILON:
            epsilon = usual if asked.value is None else parse_epsilon(asked.value)
            query_loss(session.schema, epsilon)
            session.epsilon = epsilon
        else:
            session.settings = changed(session.settings, asked)
    except BadParameter as error:
        error.at = error.at or asked.at
        raise


def changed(settings: Settings, change: Change) -> Settings:
    """`settings` with one of them as asked for; BadParameter for anything it can't be."""
    match change.setting:
        case Setting.GROUPS:
            return replace(settings, groups=_number(change))
        case Setting.ROWS_PER_GROUP:
            return replace(settings, rows_per_group=_number(change))
        case Setting.ROWS:
            return replace(settings, rows=_number(change))
        case Setting.MIN_UNITS:
            return replace(settings, min_units=_number(change))
        case Setting.NONNEGATIVE:
            return replace(settings, nonnegative=_truth(change))
        case Setting.REUSE:
            return replace(settings, reuse=_truth(change))
        case Setting.CONSISTENT:
            return replace(settings, consistent=_truth(change))
        case Setting.MAX_ERROR:
            return replace(settings, max_error=_amount(change))
        case Setting.MAX_COST:
            return replace(settings, max_cost=_amount(change))
        case Setting.BUDGET | Setting.QUERIES | Setting.RELEASES | Setting.EPSILON as other:
            raise ValueError(f"{other.value} is set elsewhere")
        case missing:
            assert_never(missing)


def shown(settings: Settings, setting: Setting) -> str:
    """A setting as SHOW tells it."""
    found = getattr(settings, setting.value)
    if isinstance(found, bool):
        return "on" if found else "off"
    if isinstance(found, Fraction):
        return f"{float(found):g}"
    return _NOT_SET.get(setting, "as declared") if found is None else str(found)


def _number(change: Change) -> int | None:
    asked = change.value
    if asked is None:
        return None
    digits = asked.isascii() and asked.isdigit() and len(asked) <= _MOST_DIGITS
    if not digits or not 1 <= int(asked) < _MOST:
        name = f"dpsql.{change.setting.value}"
        raise BadParameter(f"{name} is a whole number from 1 on", hint=f"SET {name} = 4")
    return int(asked)


def _amount(change: Change) -> Fraction | None:
    if change.value is None:
        return None
    name = f"dpsql.{change.setting.value}"
    try:
        found = parse_epsilon(change.value)
    except BadParameter:
        found = Fraction(0)
    if not found > 0:
        raise BadParameter(f"{name} is a number above 0", hint=f"SET {name} = 0.5")
    return found


def _truth(change: Change) -> bool:
    if change.value is None:
        return bool(getattr(AS_DECLARED, change.setting.value))
    asked = change.value.casefold()
    if asked not in _TRUTH:
        name = f"dpsql.{change.setting.value}"
        raise BadParameter(f"{name} is on or off", hint=f"SET {name} = on")
    return _TRUTH[asked]
