"""Constants: canonical values of exact types, folded at bind."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction

from dpsql.errors import DataError, Span
from dpsql.plan.expression import Literal
from dpsql.schema.type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Null,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

_PLAIN = re.compile(r"(\d*)\.?(\d*)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def number(text: str, at: Span | None) -> Literal:
    """A numeric constant, of the type DuckDB gives it: 1 INTEGER, 1.5 DECIMAL(2,1), 1e5 DOUBLE."""
    text = text.replace("_", "")
    match = _PLAIN.fullmatch(text)
    try:
        if match is None:
            value = float(text)
            if value in (float("inf"), float("-inf")) or value != value:
                raise ValueError
            return Literal(Fraction(value), Double())
        if "." not in text:
            return _integer(int(text))
    except ValueError:
        raise DataError(f"{text[:40]} isn't a number in range", at=at) from None
    whole, digits = match[1].lstrip("0"), match[2]
    scale = len(digits)
    precision = max(1, len(whole) + scale)
    if precision > 38:
        return Literal(Fraction(float(text)), Double())
    return Literal(Fraction(int((whole + digits) or "0"), 10**scale), Decimal(precision, scale))


def _integer(value: int) -> Literal:
    for bits in (32, 64, 128):
        if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            return Literal(value, Integer(bits))
    return Literal(Fraction(float(value)), Double())


def negated(literal: Literal) -> Literal:
    """-literal; DuckDB types the number before it negates it."""
    value = literal.value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        if isinstance(literal.type, Integer):
            return _integer(-int(value))
        return Literal(-value, literal.type)
    raise TypeError("only numbers are negated")


def cast(literal: Literal, target: SqlType, at: Span | None) -> Literal:
    """`CAST(literal AS target)`, raising now if it can't be: constants are nobody's data."""
    value = literal.value
    if value is None or isinstance(literal.type, Null):
        return Literal(None, target)
    if literal.type == target:
        return literal
    try:
        return Literal(_converted(value, literal.type, target), target)
    except (ValueError, OverflowError):
        shown = repr(value) if isinstance(value, str) else str(value)
        raise DataError(f"{shown[:60]} isn't a {target}", at=at) from None


def _converted(
    value: object, source: SqlType, target: SqlType
) -> bool | int | Fraction | str | dt.date | dt.datetime:
    match value, target:
        case bool(), Integer():
            return int(value)
        case bool(), Boolean():
            return value
        case str(), Varchar():
            return value
        case str(), Boolean():
            folded = value.strip().casefold()
            if folded in ("true", "t", "1", "yes", "y"):
                return True
            if folded in ("false", "f", "0", "no", "n"):
                return False
            raise ValueError
        case str(), Date():
            return dt.date.fromisoformat(value.strip()[:10]) if _is_day(value) else _fail()
        case str(), Timestamp():
            return _moment(value.strip())
        case str(), Uuid():
            return value.lower() if _UUID.fullmatch(value) else _fail()
        case str(), Integer() | Decimal() | Double():
            return _number(Fraction(value.strip()), target)
        case ((int() | Fraction()), Integer() | Decimal() | Double()):
            return _number(Fraction(value), target)
        case ((int() | Fraction()), Boolean()):
            return value != 0
        case int(), Varchar() if isinstance(source, Integer):
            return str(value)
        case dt.datetime(), Date():
            return value.date()
        case dt.datetime(), Timestamp():
            return value
        case dt.date(), Timestamp():
            return dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001
        case dt.date(), Varchar():
            return value.isoformat()
        case _:
            raise ValueError


def _fail() -> str:
    raise ValueError


def _is_day(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}([ T].*)?", text.strip()) is not None


def _moment(text: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    return moment


def _number(value: Fraction, target: SqlType) -> int | Fraction:
    """Rounded half away from zero as DuckDB rounds decimals; raises if it doesn't fit."""
    match target:
        case Integer(bits=bits, signed=signed):
            rounded = _round(value)
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            if not low <= rounded <= high:
                raise OverflowError
            return rounded
        case Decimal(precision=precision, scale=scale):
            scaled = _round(value * 10**scale)
            if abs(scaled) >= 10**precision:
                raise OverflowError
            return Fraction(scaled, 10**scale)
        case _:
            return Fraction(float(value))


def _round(value: Fraction) -> int:
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole
