"""The scalar functions that Spark computes as DuckDB does, each in a form that never raises.

The list is closed: what it doesn't name is refused. `tests/emit/test_spark_totality.py` runs each
of them on the ends of its types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.spark import guard
from dpsql.emit.dialect.text_length import is_short
from dpsql.plan.expression import Call, Literal
from dpsql.schema.sql_type import BIGINT, Date, Decimal, Double, Integer, Timestamp, Varchar

_Rule = Callable[[Call, list[exp.Expr]], exp.Expr | None]
"""A call with its emitted arguments; None if these types or constants aren't on the list."""

_WHOLE_DOUBLES: Final = Fraction(2**52)
"""From it on, every double is whole."""


def emit_call(call: Call, arguments: list[exp.Expr]) -> exp.Expr:
    """`call`; Refused, with the function's name, where no rule says how."""
    rule = FUNCTIONS.get(call.function)
    emitted = None if rule is None else rule(call, arguments)
    if emitted is None:
        types = ", ".join(str(argument.type) for argument in call.arguments)
        raise guard.refused(f"{call.function} of {types}")
    return emitted


def _remainder(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    kinds = [argument.type for argument in call.arguments]
    if not isinstance(call.type, Integer | Decimal):
        return None
    exact = [kind for kind in kinds if isinstance(kind, Integer | Decimal)]
    whole, scale = (max(column) for column in zip(*map(guard.digits, exact), strict=True))
    # A quotient of more than 39 digits would raise: 10^37 % 10^-38.
    if len(exact) < len(kinds) or whole + scale > guard.WIDE:
        return None
    operands = (guard.as_decimal(a, kind) for a, kind in zip(arguments, exact, strict=True))
    return guard.in_range(guard.call("TRY_MOD", *operands), call.type)


def _quotient(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """By a constant that is neither 0 nor -1: no such quotient raises or is too large.

    Of decimals, `div` is cut to 64 bits without a word.
    """
    kinds = (*(argument.type for argument in call.arguments), call.type)
    if not all(isinstance(kind, Integer) and BIGINT.holds(kind) for kind in kinds):
        return None
    match call.arguments[1], call.type:
        case Literal(value=int() as divisor), Integer() as kind if divisor not in (0, -1):
            dividend, by = (guard.cast(argument, "BIGINT") for argument in arguments)
            return guard.in_range(exp.Paren(this=exp.IntDiv(this=dividend, expression=by)), kind)
        case _:
            return None


def _one_number(name: str) -> _Rule:
    """A function of one exact number, whose value has its scale or is whole."""

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        kinds = [argument.type for argument in call.arguments]
        match kinds, call.type:
            case [Integer() as kind], Integer() as target if kind.signed:
                wide = guard.as_decimal(arguments[0], kind)
                return guard.in_range(guard.call(name, wide), target)
            case [Decimal()], (Integer() | Decimal()) as target:
                return guard.in_range(guard.call(name, arguments[0]), target)
            case _:
                return None

    return rule


def _rounded_toward(name: str) -> _Rule:
    """The same, and of doubles, of which Spark gives a BIGINT: the largest one for 1e300."""
    exact = _one_number(name)

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        if call.type != Double() or [a.type for a in call.arguments] != [Double()]:
            return exact(call, arguments)

        def rounded(value: exp.Expr) -> exp.Expr:
            near = exp.LT(
                this=guard.call("ABS", value.copy()), expression=guard.double(_WHOLE_DOUBLES)
            )
            whole = guard.cast(guard.call(name, value.copy()), "DOUBLE")
            return exp.case().when(near, whole, copy=False).else_(value.copy(), copy=False)

        return guard.bind(arguments[0], rounded)

    return rule


def _absolute(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """Of exact numbers as 0 less those below it: Spark's ABS rounds them to 34 digits."""
    match [a.type for a in call.arguments], call.type:
        case [Double()], Double():
            return guard.call("ABS", *arguments)
        case [(Integer() | Decimal()) as kind], (Integer() | Decimal()) as target:
            number = guard.as_decimal(arguments[0], kind)
            zero = guard.cast(integer(0), guard.decimal_name(*_sizes(kind)))

            def absolute(value: exp.Expr) -> exp.Expr:
                below = exp.LT(this=value.copy(), expression=zero.copy())
                less = guard.call("TRY_SUBTRACT", zero, value.copy())
                return exp.case().when(below, less, copy=False).else_(value, copy=False)

            return guard.in_range(guard.bind(number, absolute), target)
        case _:
            return None


def _sizes(kind: Integer | Decimal) -> tuple[int, int]:
    """Digits of the decimal type that holds a number, and those after its point."""
    whole, scale = guard.digits(kind)
    return whole + scale, scale


def _extreme(name: str) -> _Rule:
    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        kinds = (Integer, Decimal, Double, Date, Timestamp)
        if not isinstance(call.type, kinds) or len(arguments) < 2:
            return None
        if any(argument.type != call.type for argument in call.arguments):
            return None
        return guard.call(name, *arguments)

    return rule


def _of_texts(name: str, *, of_type: str | None = None) -> _Rule:
    """A function of texts alone, whose value is cast `of_type`."""

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        if not all(isinstance(argument.type, Varchar) for argument in call.arguments):
            return None
        called = guard.call(name, *_valid(call, arguments))
        return called if of_type is None else guard.cast(called, of_type)

    return rule


def _valid(call: Call, arguments: list[exp.Expr]) -> list[exp.Expr]:
    """Texts in UTF-8; NULL for other bytes, of which Spark counts what follows them, too."""
    return [
        argument
        if isinstance(own, Literal) or not isinstance(own.type, Varchar)
        else guard.call("TRY_VALIDATE_UTF8", argument)
        for own, argument in zip(call.arguments, arguments, strict=True)
    ]


def _like(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """LIKE a constant, whose backslashes are themselves, as they are on DuckDB."""
    match call.arguments:
        case [text, Literal(value=str() as pattern)] if isinstance(text.type, Varchar):
            escaped = exp.Literal.string(pattern.replace("\\", "\\\\"))
            return exp.Paren(this=exp.Like(this=_valid(call, arguments)[0], expression=escaped))
        case _:
            return None


def _substring(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """From a constant position on; one of 0 or less means something else on DuckDB."""
    text, first, *rest = call.arguments
    if not isinstance(text.type, Varchar) or not _is_constant(first, 1):
        return None
    if not all(_is_constant(length, 0) for length in rest):
        return None
    own, *numbers = _valid(call, arguments)
    return guard.call("SUBSTRING", own, *(guard.cast(n, "INT") for n in numbers))


def _left(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    if not isinstance(call.arguments[0].type, Varchar) or not _is_constant(call.arguments[1], 0):
        return None
    text, length = _valid(call, arguments)
    return guard.call("LEFT", text, guard.cast(length, "INT"))


def _joined(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """Of texts whose length is known: Java has no text of more than two gigabytes."""
    return _of_texts("CONCAT")(call, arguments) if is_short(call) else None


def _is_constant(argument: object, low: int) -> bool:
    match argument:
        case Literal(value=int() as value):
            return low <= value < 2**31
        case _:
            return False


def _part(name: str, shift: int = 0) -> _Rule:
    """A part of a date or timestamp, a BIGINT."""

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        if len(arguments) != 1 or not isinstance(call.arguments[0].type, Date | Timestamp):
            return None
        is_of_day = name not in _OF_TIME
        if not is_of_day and isinstance(call.arguments[0].type, Date):
            return None
        moment = guard.cast(arguments[0], "DATE") if is_of_day else arguments[0]
        own: exp.Expr = guard.call(name, moment)
        if shift:
            own = exp.Paren(this=exp.Add(this=own, expression=integer(shift)))
        return guard.cast(own, guard.type_name(call.type))

    return rule


def _date_trunc(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    field, moment = call.arguments
    if not isinstance(field, Literal) or field.value not in _FIELDS:
        return None
    if not isinstance(moment.type, Date | Timestamp) or not isinstance(call.type, Date | Timestamp):
        return None
    name, target = str(field.value).upper(), guard.type_name(call.type)

    def truncated(value: exp.Expr) -> exp.Expr:
        day = guard.cast(value.copy(), "DATE")
        start = day if name == "DAY" else guard.call("TRUNC", day, exp.Literal.string(name))
        return guard.when_known(value, guard.cast(start, target))

    return guard.bind(arguments[1], truncated)


_FIELDS: Final = frozenset({"year", "quarter", "month", "week", "day"})
_OF_TIME: Final = frozenset({"HOUR", "MINUTE"})

FUNCTIONS: Final[Mapping[str, _Rule]] = {
    "%": _remainder,
    "//": _quotient,
    "abs": _absolute,
    "floor": _rounded_toward("FLOOR"),
    "ceil": _rounded_toward("CEIL"),
    "round": _one_number("ROUND"),
    "greatest": _extreme("GREATEST"),
    "least": _extreme("LEAST"),
    "length": _of_texts("LENGTH", of_type="BIGINT"),
    "starts_with": _of_texts("STARTSWITH"),
    "contains": _of_texts("CONTAINS"),
    "strpos": _of_texts("INSTR", of_type="BIGINT"),
    "like": _like,
    "substring": _substring,
    "left": _left,
    "||": _joined,
    "year": _part("YEAR"),
    "quarter": _part("QUARTER"),
    "month": _part("MONTH"),
    "day": _part("DAY"),
    "isodow": _part("WEEKDAY", 1),
    "hour": _part("HOUR"),
    "minute": _part("MINUTE"),
    "date_trunc": _date_trunc,
}
"""What is on the list, by the names of `dpsql.plan.functions`."""
