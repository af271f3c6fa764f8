"""Constants: canonical values of exact types, computed when the statement is bound."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction

from dpsql.bind.expression import interval_literal
from dpsql.errors import DataError, Span
from dpsql.plan.expression import Literal, Scalar
from dpsql.plan.functions import evaluation
from dpsql.plan.numeric_types import holds, whole_number_type
from dpsql.schema.sql_type import (
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    Null,
    SqlType,
    Timestamp,
)

_PLAIN = re.compile(r"(\d*)\.?(\d*)")
_MAX_DIGITS = 38
"""The digits of a DECIMAL at most."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(_DAY.pattern + r"[ T]\d{2}:\d{2}:\d{2}(\.\d{3}|\.\d{6})?")


def number(text: str, at: Span | None) -> Literal:
    """A numeric constant, of the type DuckDB gives it: 1 INTEGER, 1.5 DECIMAL(2,1), 1e5 DOUBLE."""
    text = text.replace("_", "")
    match = _PLAIN.fullmatch(text)
    try:
        if match is None or (len(match[1]) + len(match[2]) > _MAX_DIGITS and "." in text):
            return Literal(Fraction(float(text)), Double())
        if "." not in text:
            return whole_number(int(text))
    except (ValueError, OverflowError):
        raise DataError(f"{text[:40]} isn't a number in range", at=at) from None
    whole, digits = match[1], match[2]
    scale = len(digits)
    precision = max(1, len(whole) + scale)
    return Literal(Fraction(int((whole + digits) or "0"), 10**scale), Decimal(precision, scale))


def whole_number(value: int) -> Literal:
    """An integer constant, of the type DuckDB gives it."""
    kind = whole_number_type(value)
    return Literal(Fraction(float(value)), Double()) if kind is None else Literal(value, kind)


def negated(literal: Literal) -> Literal:
    """-literal; DuckDB types the number before it negates it."""
    value = literal.value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        if isinstance(literal.type, Integer):
            return whole_number(-int(value))
        return Literal(-value, literal.type)
    raise TypeError("only numbers are negated")


def cast(literal: Literal, target: SqlType, at: Span | None) -> Literal:
    """`CAST(literal AS target)`; DataError if it can't be, which tells nothing of the data."""
    value = literal.value
    if value is None or isinstance(literal.type, Null):
        return Literal(None, target)
    if literal.type == target:
        return literal
    if isinstance(target, Interval):
        converted: Scalar = _length(value)
    else:
        converted = _at_once(value, literal.type, target)
        if converted is None:
            converted = (evaluation.cast((value,), literal.type, target) or (None,))[0]
    if converted is None:
        shown = repr(value) if isinstance(value, str) else str(value)
        raise DataError(f"{shown[:60]} is no value of {target}", at=at)
    return Literal(converted, target)


def in_utc(literal: Literal, at: Span | None) -> Literal:
    """`CAST(literal AS TIMESTAMP WITH TIME ZONE)` as the TIMESTAMP that it is in UTC."""
    if not isinstance(literal.value, str):
        return cast(literal, Timestamp(), at)
    template = ("cast", ("cast", 0, "TIMESTAMP WITH TIME ZONE"), "TIMESTAMP")
    operand = evaluation.Operand((literal.value,), literal.type)
    moment = (evaluation.evaluated(template, (operand,), Timestamp(), 1) or (None,))[0]
    if moment is None:
        raise DataError(f"{literal.value[:60]!r} isn't a moment", at=at)
    return Literal(moment, Timestamp())


def _length(value: Scalar) -> str | None:
    duration = interval_literal.read(value) if isinstance(value, str) else None
    return None if duration is None else str(duration)


def _at_once(value: Scalar, source: SqlType, target: SqlType) -> Scalar:
    """The value of a common cast, which needs no engine; None for other casts, and if it fails."""
    match value, target:
        case int() | Fraction(), Integer() | Decimal() if isinstance(source, Integer | Decimal):
            return _number(Fraction(value), target)
        case int() | Fraction(), Double(bits=64) if isinstance(source, Integer | Decimal):
            return Fraction(float(value))
        case dt.date(), Timestamp() if isinstance(source, Date):
            return dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001 - it has no zone
        case str(), Date() if _DAY.fullmatch(value):
            return _read(dt.date, value)
        case str(), Timestamp() if _MOMENT.fullmatch(value):
            return _read(dt.datetime, value)
        case _:
            return None


def _read(kind: type[dt.date], text: str) -> dt.date | None:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return None


def _number(value: Fraction, target: Integer | Decimal) -> int | Fraction | None:
    """`value` as `target`, rounded half away from zero; None if it doesn't fit."""
    if isinstance(target, Integer):
        rounded = _round(value)
        return rounded if holds(target, rounded) else None
    scaled = _round(value * 10**target.scale)
    fits = abs(scaled) < 10**target.precision
    return Fraction(scaled, 10**target.scale) if fits else None


def _round(value: Fraction) -> int:
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole
