"""The settings that SET changes and SHOW tells: what an analyst chooses for statements to come."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpsql.dbapi.statements.assignment import Assignment, Setting
from dpsql.errors import BadParameter
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import parse_epsilon, query_loss
from dpsql.session.options import QueryOptions
from dpsql.structs import replace

_TRUTH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_MAX_LIMIT = 2**31
_MAX_DIGITS = 10
_NOT_SET = {Setting.MAX_ERROR: "none", Setting.MAX_COST: "none"}


def updated(options: QueryOptions, assignment: Assignment, schema: Schema) -> QueryOptions:
    """`options` with one of them as assigned; BadParameter, with its place, for what it can't be.

    An ε is checked against the limits of `schema`.
    """
    try:
        return _updated(options, assignment, schema)
    except BadParameter as error:
        error.at = error.at or assignment.at
        raise


def format_setting(options: QueryOptions, setting: Setting) -> str:
    """A setting as SHOW tells it."""
    value = _value(options, setting)
    if isinstance(value, bool):
        return "on" if value else "off"
    if setting is Setting.UNIT_SUM and value is not None:
        return describe_number(Fraction(value))
    if isinstance(value, Fraction):
        return f"{float(value):g}"
    return _NOT_SET.get(setting, "as declared") if value is None else str(value)


def _updated(options: QueryOptions, assignment: Assignment, schema: Schema) -> QueryOptions:
    limits, release, answer = options.limits, options.release, options.answer
    match assignment.setting:
        case Setting.EPSILON:
            return replace(options, epsilon=_epsilon(assignment, schema))
        case Setting.GROUPS:
            return replace(options, limits=replace(limits, groups=_number(assignment)))
        case Setting.ROWS_PER_GROUP:
            return replace(options, limits=replace(limits, rows_per_group=_number(assignment)))
        case Setting.ROWS:
            return replace(options, limits=replace(limits, rows=_number(assignment)))
        case Setting.UNIT_SUM:
            return replace(options, limits=replace(limits, unit_sum=_amount(assignment)))
        case Setting.OVER_GROUPS:
            return replace(options, limits=replace(limits, over_groups=_over_groups(assignment)))
        case Setting.MIN_UNITS:
            return replace(options, release=replace(release, min_units=_number(assignment)))
        case Setting.NONNEGATIVE:
            return replace(options, release=replace(release, nonnegative=_truth(assignment)))
        case Setting.WEIGHTED_KEYS:
            return replace(options, release=replace(release, weighted_keys=_truth(assignment)))
        case Setting.REUSE:
            return replace(options, answer=replace(answer, reuse=_truth(assignment)))
        case Setting.CONSISTENT:
            return replace(options, answer=replace(answer, consistent=_truth(assignment)))
        case Setting.CLAMPED:
            clamped = assignment.value is None or _truth(assignment)
            return replace(options, answer=replace(answer, clamped=clamped))
        case Setting.MAX_ERROR:
            return replace(options, price=replace(options.price, max_error=_amount(assignment)))
        case Setting.MAX_COST:
            return replace(options, price=replace(options.price, max_cost=_amount(assignment)))
        case Setting.BUDGET | Setting.QUERIES | Setting.RELEASES as other:
            raise ValueError(f"{other.value} is set elsewhere")
        case missing:
            assert_never(missing)


def _value(options: QueryOptions, setting: Setting) -> int | Fraction | str | None:
    match setting:
        case Setting.EPSILON:
            return options.epsilon
        case Setting.GROUPS:
            return options.limits.groups
        case Setting.ROWS_PER_GROUP:
            return options.limits.rows_per_group
        case Setting.ROWS:
            return options.limits.rows
        case Setting.UNIT_SUM:
            return options.limits.unit_sum
        case Setting.OVER_GROUPS:
            chosen = options.limits.over_groups
            return None if chosen is None else chosen.value
        case Setting.MIN_UNITS:
            return options.release.min_units
        case Setting.NONNEGATIVE:
            return options.release.nonnegative
        case Setting.WEIGHTED_KEYS:
            return options.release.weighted_keys
        case Setting.REUSE:
            return options.answer.reuse
        case Setting.CONSISTENT:
            return options.answer.consistent
        case Setting.CLAMPED:
            return options.answer.clamped
        case Setting.MAX_ERROR:
            return options.price.max_error
        case Setting.MAX_COST:
            return options.price.max_cost
        case Setting.BUDGET | Setting.QUERIES | Setting.RELEASES as other:
            raise ValueError(f"{other.value} is told elsewhere")
        case missing:
            assert_never(missing)


def _epsilon(assignment: Assignment, schema: Schema) -> Fraction | None:
    if assignment.value is None:
        return None
    epsilon = parse_epsilon(assignment.value)
    query_loss(schema, epsilon)
    return epsilon


def _number(assignment: Assignment) -> int | None:
    text = assignment.value
    if text is None:
        return None
    digits = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    if not digits or not 1 <= int(text) < _MAX_LIMIT:
        name = f"dpsql.{assignment.setting.value}"
        raise BadParameter(f"{name} is a whole number from 1 on", hint=f"SET {name} = 4")
    return int(text)


def _amount(assignment: Assignment) -> Fraction | None:
    if assignment.value is None:
        return None
    name = f"dpsql.{assignment.setting.value}"
    try:
        amount = parse_epsilon(assignment.value)
    except BadParameter:
        amount = Fraction(0)
    if not amount > 0:
        raise BadParameter(f"{name} is a number above 0", hint=f"SET {name} = 0.5")
    return amount


def _over_groups(assignment: Assignment) -> OverGroups | None:
    if assignment.value is None:
        return None
    words = {each.value: each for each in OverGroups}
    chosen = words.get(assignment.value.casefold())
    if chosen is None:
        name = f"dpsql.{assignment.setting.value}"
        raise BadParameter(f"{name} is {' or '.join(words)}", hint=f"SET {name} = scale")
    return chosen


def _truth(assignment: Assignment) -> bool:
    if assignment.value is None:
        return False
    text = assignment.value.casefold()
    if text not in _TRUTH:
        name = f"dpsql.{assignment.setting.value}"
        raise BadParameter(f"{name} is on or off", hint=f"SET {name} = on")
    return _TRUTH[text]
