"""The settings that SET changes and SHOW tells, beside epsilon."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from dpsql.bounding.settings import AS_DECLARED, Settings
from dpsql.dbapi.statements.assignment import Assignment, Setting
from dpsql.errors import BadParameter
from dpsql.session.compile.loss_conversion import parse_epsilon, query_loss
from dpsql.session.session import Session

_TRUTH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_MAX_LIMIT = 2**31
_MAX_DIGITS = 10
_NOT_SET = {Setting.MAX_ERROR: "none", Setting.MAX_COST: "none"}


def apply(session: Session, assignment: Assignment, usual: Fraction) -> None:
    """Apply `assignment` to `session`, whose ε is `usual` by default; BadParameter says where."""
    try:
        if assignment.setting is Setting.EPSILON:
            epsilon = usual if assignment.value is None else parse_epsilon(assignment.value)
            query_loss(session.schema, epsilon)
            session.epsilon = epsilon
        else:
            session.settings = updated(session.settings, assignment)
    except BadParameter as error:
        error.at = error.at or assignment.at
        raise


def updated(settings: Settings, assignment: Assignment) -> Settings:
    """`settings` with one of them as asked for; BadParameter for anything it can't be."""
    match assignment.setting:
        case Setting.GROUPS:
            return replace(settings, groups=_number(assignment))
        case Setting.ROWS_PER_GROUP:
            return replace(settings, rows_per_group=_number(assignment))
        case Setting.ROWS:
            return replace(settings, rows=_number(assignment))
        case Setting.MIN_UNITS:
            return replace(settings, min_units=_number(assignment))
        case Setting.NONNEGATIVE:
            return replace(settings, nonnegative=_truth(assignment))
        case Setting.REUSE:
            return replace(settings, reuse=_truth(assignment))
        case Setting.CONSISTENT:
            return replace(settings, consistent=_truth(assignment))
        case Setting.MAX_ERROR:
            return replace(settings, max_error=_amount(assignment))
        case Setting.MAX_COST:
            return replace(settings, max_cost=_amount(assignment))
        case Setting.BUDGET | Setting.QUERIES | Setting.RELEASES | Setting.EPSILON as other:
            raise ValueError(f"{other.value} is set elsewhere")
        case missing:
            assert_never(missing)


def format_setting(settings: Settings, setting: Setting) -> str:
    """A setting as SHOW tells it."""
    found = getattr(settings, setting.value)
    if isinstance(found, bool):
        return "on" if found else "off"
    if isinstance(found, Fraction):
        return f"{float(found):g}"
    return _NOT_SET.get(setting, "as declared") if found is None else str(found)


def _number(assignment: Assignment) -> int | None:
    asked = assignment.value
    if asked is None:
        return None
    digits = asked.isascii() and asked.isdigit() and len(asked) <= _MAX_DIGITS
    if not digits or not 1 <= int(asked) < _MAX_LIMIT:
        name = f"dpsql.{assignment.setting.value}"
        raise BadParameter(f"{name} is a whole number from 1 on", hint=f"SET {name} = 4")
    return int(asked)


def _amount(assignment: Assignment) -> Fraction | None:
    if assignment.value is None:
        return None
    name = f"dpsql.{assignment.setting.value}"
    try:
        found = parse_epsilon(assignment.value)
    except BadParameter:
        found = Fraction(0)
    if not found > 0:
        raise BadParameter(f"{name} is a number above 0", hint=f"SET {name} = 0.5")
    return found


def _truth(assignment: Assignment) -> bool:
    if assignment.value is None:
        return bool(getattr(AS_DECLARED, assignment.setting.value))
    asked = assignment.value.casefold()
    if asked not in _TRUTH:
        name = f"dpsql.{assignment.setting.value}"
        raise BadParameter(f"{name} is on or off", hint=f"SET {name} = on")
    return _TRUTH[asked]
