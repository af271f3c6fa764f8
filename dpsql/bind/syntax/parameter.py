"""Parameters of a statement: constants that are passed with its text, never put into it."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from dpsql.bind.expression.literal import whole_number
from dpsql.bind.syntax.parse import span
from dpsql.bind.syntax.placeholder import is_text
from dpsql.errors import BadParameter
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Null, Timestamp, Varchar

Parameters = Mapping[str, Literal]
"""Constants by name, or by number from "1" on."""

LONGEST = 64 * 1024

_LARGEST = 10**38
"""SQL has no type for integers from here on: as a DOUBLE they would be other numbers."""


def value_of(node: exp.Expr, parameters: Parameters) -> Literal:
    """The constant that was passed for `node`, `$1` or `:name`; BadParameter if none was."""
    name = node.name
    if name not in parameters:
        raise BadParameter(
            f"no value is given for parameter {name or '?'}",
            at=span(node),
            hint="pass one value for each parameter",
        )
    return parameters[name]


def literals(parameters: Sequence[object] | Mapping[str, object]) -> dict[str, Literal]:
    """Python values as typed constants: of a sequence by number from "1" on, else by name."""
    if isinstance(parameters, Mapping):
        return {str(name): literal(value, str(name)) for name, value in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise BadParameter("parameters are a sequence or a mapping of values")
    return {str(n): literal(value, str(n)) for n, value in enumerate(parameters, start=1)}


def literal(value: object, name: str) -> Literal:
    """One Python value as a typed constant; of a subclass's value, the part that SQL has.

    `name` is the parameter's, for messages. Raises BadParameter for values without a constant.
    """
    match value:
        case None:
            return Literal(None, Null())
        case bool():
            return Literal(value, Boolean())
        case int() if abs(value) < _LARGEST:
            return whole_number(int.__int__(value))
        case float() if math.isfinite(value):
            return Literal(Fraction(value), Double())
        case decimal.Decimal() if value.is_finite():
            return _decimal(value, name)
        case float() | decimal.Decimal():
            raise BadParameter(
                f"parameter {name} isn't a finite number",
                hint="pass a number of digits, or NULL: SQL has no constant for others here",
            )
        case str() if len(value) <= LONGEST and is_text(value):
            return Literal(str.__str__(value), Varchar())
        case dt.datetime():
            return Literal(_moment(_in_utc(value, name), name), Timestamp())
        case dt.date():
            return Literal(dt.date(value.year, value.month, value.day), Date())
        case _:
            kind = type(value).__name__
            raise BadParameter(
                f"parameter {name} is a {kind} that SQL has no constant for",
                hint="pass an int, float, Decimal, str, bool, date, datetime or None",
            )


def _in_utc(value: dt.datetime, name: str) -> dt.datetime:
    try:
        return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    except OverflowError:
        raise BadParameter(f"parameter {name} is a moment that no year of UTC has") from None


def _moment(value: dt.datetime, name: str) -> dt.datetime:
    """`value` without its `fold`, which tells a repeated hour apart: SQL has nothing for it."""
    try:
        day = (value.year, value.month, value.day)
        return dt.datetime(*day, value.hour, value.minute, value.second, value.microsecond)  # noqa: DTZ001
    except (TypeError, ValueError):
        # pandas' NaT is an instance of datetime.
        raise BadParameter(f"parameter {name} is no moment") from None


def _decimal(value: decimal.Decimal, name: str) -> Literal:
    exponent = value.as_tuple().exponent
    scale = max(0, -exponent) if isinstance(exponent, int) else 0
    if value and value.adjusted() >= 38:
        # As an integer, 1E+999999999 would fill the memory.
        raise BadParameter(f"parameter {name} has more than 38 digits")
    whole = abs(int(value))
    precision = max(1, len(str(whole)) * (whole > 0) + scale)
    if precision > 38:
        raise BadParameter(f"parameter {name} has more than 38 digits")
    return Literal(Fraction(value), Decimal(precision, scale))
