"""Values of functions over finite sets of arguments, computed by the engine itself.

DuckDB's result for 'İ' in lower(), or for 31 January plus a month, isn't guessed: an empty DuckDB
computes it. Where a call raises, or is infinite or NaN, its total form is NULL, and so is the value
here.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dpsql.engine.duckdb.constant_evaluation import (
    Argument,
    EvaluationRaised,
    EvaluationUnavailable,
    Template,
    evaluate,
)
from dpsql.plan.expression import Scalar
from dpsql.plan.expression_text import describe_number
from dpsql.plan.time_zone.conversion import CONVERSION, converted
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Null,
    SqlType,
    Timestamp,
    Varchar,
)

MAX_FAILURES = 64
"""Calls that raise are located by halving; a set with more of them isn't evaluated."""


_OWN: dict[str, Callable[[tuple[Scalar, ...]], Scalar]] = {CONVERSION: converted}
"""Functions that aren't the engine's, as Python computes them for one row."""

MAX_CACHED = 1_000
"""Results of up to so many rows are cached."""


class Operand(NamedTuple):
    """One argument's values, row by row, and their type."""

    values: tuple[Scalar, ...]
    type: SqlType


def evaluated(
    call: Template, operands: tuple[Operand, ...], result: SqlType, rows: int
) -> tuple[Scalar, ...] | None:
    """The values of the total form of `call`, row by row; None if too many rows raise.

    `operands` have `rows` values each, and `result` is the type of the call.
    """
    remember = rows <= MAX_CACHED
    return (_evaluated if remember else _evaluated.__wrapped__)(call, operands, result, rows)


@lru_cache(maxsize=1024)
def _evaluated(
    call: Template, operands: tuple[Operand, ...], result: SqlType, rows: int
) -> tuple[Scalar, ...] | None:
    own = _OWN.get(str(call[0]))
    try:
        if own is not None:
            columns = (operand.values for operand in operands)
            return tuple(map(own, zip(*columns, strict=True)))
        texts = _total(call, _arguments(operands), rows, [MAX_FAILURES])
        return tuple(None if text is None else _value(text, result) for text in texts)
    except (EvaluationRaised, OverflowError):
        return None


def raises(call: Template, operands: tuple[Operand, ...]) -> bool:
    """The call raises for its one row of operands."""
    if call[0] in _OWN:
        return evaluated(call, operands, Null(), 1) is None
    try:
        evaluate(call, _arguments(operands), 1)
    except EvaluationRaised:
        return True
    return False


def cast(values: tuple[Scalar, ...], source: SqlType, target: SqlType) -> tuple[Scalar, ...] | None:
    """`TRY_CAST` of each of `values`; None if it can't be computed."""
    if isinstance(source, Null) or isinstance(target, Null):
        # All values are NULL, which is NULL of any type.
        return values
    template = ("cast", 0, str(target))
    return evaluated(template, (Operand(values, source),), target, len(values))


def as_text(value: Scalar, kind: SqlType) -> str | None:
    """A text that `CAST(text AS kind)` reads as exactly `value`."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case int() | Fraction() if isinstance(kind, Double):
            return repr(float(value))
        case int() | Fraction():
            return describe_number(Fraction(value))
        case dt.datetime():
            return value.isoformat(sep=" ")
        case dt.date():
            return value.isoformat()
        case str():
            return value


def _arguments(operands: tuple[Operand, ...]) -> list[Argument]:
    return [
        Argument([as_text(value, operand.type) for value in operand.values], _name(operand.type))
        for operand in operands
    ]


def _name(kind: SqlType) -> str:
    return str(Varchar() if isinstance(kind, Null) else kind)


def _total(
    call: Template, arguments: Sequence[Argument], rows: int, left: list[int]
) -> list[str | None]:
    """The texts of `call`, None in rows that raise; `left` counts down how many may."""
    try:
        return evaluate(call, arguments, rows)
    except EvaluationUnavailable:
        raise
    except EvaluationRaised:
        left[0] -= 1
        if left[0] < 0:
            raise
        if rows == 1:
            return [None]
        half = rows // 2
        lower = [Argument(a.texts[:half], a.type) for a in arguments]
        upper = [Argument(a.texts[half:], a.type) for a in arguments]
        return _total(call, lower, half, left) + _total(call, upper, rows - half, left)


def _value(text: str, kind: SqlType) -> Scalar:
    """The canonical value of a text that DuckDB prints; raises OverflowError if Python has none."""
    match kind:
        case Boolean():
            return text == "true"
        case Integer():
            return int(text)
        case Decimal():
            return Fraction(text)
        case Double(bits=bits):
            number = float(text)
            if not math.isfinite(number):
                return None
            return Fraction(
                number if bits == 64 else struct.unpack("f", struct.pack("f", number))[0]
            )
        case Date() | Timestamp():
            try:
                return (dt.date if isinstance(kind, Date) else dt.datetime).fromisoformat(text)
            except ValueError:
                # An infinite date, or one beyond the years that Python counts.
                raise OverflowError(text) from None
        case _:
            return text
