"""The scalar functions that PostgreSQL computes as DuckDB does, each in a form that never raises.

The list is closed: what it doesn't name is refused. `tests/engine/test_postgres_totality.py` runs
each of them on the ends of its types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.postgres import guard
from dpsql.emit.dialect.text_length import is_short
from dpsql.plan.expression import Call, Literal
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, Timestamp, Varchar

_Rule = Callable[[Call, list[exp.Expr]], exp.Expr | None]
"""A call with its emitted arguments; None if these types or constants aren't on the list."""


def emit_call(call: Call, arguments: list[exp.Expr]) -> exp.Expr:
    """`call`; Refused, with the function's name, where no rule says how."""
    rule = FUNCTIONS.get(call.function)
    emitted = None if rule is None else rule(call, arguments)
    if emitted is None:
        types = ", ".join(str(argument.type) for argument in call.arguments)
        raise guard.refused(f"{call.function} of {types}")
    return emitted


def _are_exact(call: Call) -> bool:
    return all(isinstance(argument.type, Integer | Decimal) for argument in call.arguments)


def _remainder(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    if not _are_exact(call) or not isinstance(call.type, Integer | Decimal):
        return None
    dividend, divisor = map(guard.exact, arguments)
    remainder = guard.call("MOD", dividend, guard.call("NULLIF", divisor, integer(0)))
    return guard.in_range(remainder, call.type)


def _quotient(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    if not all(isinstance(argument.type, Integer) for argument in call.arguments):
        return None
    if not isinstance(call.type, Integer):
        return None
    dividend, divisor = map(guard.exact, arguments)
    whole = guard.call("DIV", dividend, guard.call("NULLIF", divisor, integer(0)))
    return guard.in_range(whole, call.type)


def _one_number(name: str) -> _Rule:
    """A function of one exact number, whose value has its scale or is whole."""

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        if (
            len(arguments) != 1
            or not _are_exact(call)
            or not isinstance(call.type, Integer | Decimal)
        ):
            return None
        return guard.in_range(guard.call(name, guard.exact(arguments[0])), call.type)

    return rule


def _of_any_number(name: str) -> _Rule:
    """The same, and of doubles, of which it is total."""
    exact = _one_number(name)

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        if len(arguments) == 1 and isinstance(call.arguments[0].type, Double):
            return guard.call(name, *arguments) if call.type == call.arguments[0].type else None
        return exact(call, arguments)

    return rule


def _extreme(name: str) -> _Rule:
    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        kinds = (Integer, Decimal, Double, Date, Timestamp)
        return guard.call(name, *arguments) if isinstance(call.type, kinds) else None

    return rule


def _length(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    return guard.call("LENGTH", *arguments) if isinstance(call.arguments[0].type, Varchar) else None


def _starts_with(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    return guard.call("STARTS_WITH", *arguments) if _are_texts(call) else None


def _contains(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    if not _are_texts(call):
        return None
    return exp.Paren(this=exp.GT(this=guard.call("STRPOS", *arguments), expression=integer(0)))


def _joined(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """Of texts whose length is known: PostgreSQL raises where one has more than a gigabyte."""
    if not _are_texts(call) or not is_short(call):
        return None
    return exp.Paren(this=exp.DPipe(this=arguments[0], expression=arguments[1]))


def _position(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    return guard.call("STRPOS", *arguments) if _are_texts(call) else None


def _are_texts(call: Call) -> bool:
    return all(isinstance(argument.type, Varchar) for argument in call.arguments)


def _like(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """LIKE without an escape, as DuckDB's; PostgreSQL's raises where one ends a pattern."""
    if not _are_texts(call):
        return None
    like = exp.Like(this=arguments[0], expression=arguments[1])
    return exp.Paren(this=exp.Escape(this=like, expression=exp.Literal.string("")))


def _substring(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    """From a constant position on; a negative one counts from the end in DuckDB alone."""
    first, *rest = call.arguments[1:]
    if not _is_constant(first, 1) or not all(_is_constant(length, 0) for length in rest):
        return None
    return guard.call(
        "SUBSTR", *(arguments[:1]), *(guard.cast(a, "INTEGER") for a in arguments[1:])
    )


def _left(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    if not _is_constant(call.arguments[1], 0):
        return None
    return guard.call("LEFT", arguments[0], guard.cast(arguments[1], "INTEGER"))


def _is_constant(argument: object, low: int) -> bool:
    match argument:
        case Literal(value=int() as value):
            return low <= value < 2**31
        case _:
            return False


def _part(field: str) -> _Rule:
    """A part of a date or timestamp: NULL where that is infinite, or thousands of years away."""

    def rule(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
        if len(arguments) != 1 or not isinstance(call.arguments[0].type, Date | Timestamp):
            return None

        def part(moment: exp.Expr) -> exp.Expr:
            value: exp.Expr = guard.call("DATE_PART", exp.Literal.string(field), moment.copy())
            whole = guard.cast(value, "BIGINT")
            if field == "year":
                # PostgreSQL has no year 0: the year before 1 is -1.
                before = exp.case().when(
                    exp.LT(this=whole.copy(), expression=integer(0)), integer(1), copy=False
                )
                whole = exp.Add(this=whole, expression=before.else_(integer(0), copy=False))
            return guard.when_known(moment, whole)

        return guard.bind(arguments, part)

    return rule


def _date_trunc(call: Call, arguments: list[exp.Expr]) -> exp.Expr | None:
    field, moment = call.arguments
    if not isinstance(field, Literal) or field.value not in _FIELDS:
        return None
    if not isinstance(moment.type, Date | Timestamp) or not isinstance(call.type, Date | Timestamp):
        return None
    name = str(field.value)

    def truncated(value: exp.Expr) -> exp.Expr:
        start = guard.call(
            "DATE_TRUNC", exp.Literal.string(name), guard.cast(value.copy(), "TIMESTAMP")
        )
        target = guard.type_name(call.type)
        known = guard.when_known(value, guard.cast(start, target), guard.FIRST_YEAR)
        return guard.or_infinite(known, value, target)

    return guard.bind(arguments[1:], truncated)


_FIELDS: Final = frozenset({"year", "quarter", "month", "week", "day"})

FUNCTIONS: Final[Mapping[str, _Rule]] = {
    "%": _remainder,
    "//": _quotient,
    "abs": _of_any_number("ABS"),
    "floor": _of_any_number("FLOOR"),
    "ceil": _of_any_number("CEIL"),
    "trunc": _of_any_number("TRUNC"),
    "round": _one_number("ROUND"),
    "greatest": _extreme("GREATEST"),
    "least": _extreme("LEAST"),
    "length": _length,
    "starts_with": _starts_with,
    "contains": _contains,
    "strpos": _position,
    "like": _like,
    "substring": _substring,
    "left": _left,
    "||": _joined,
    "year": _part("year"),
    "quarter": _part("quarter"),
    "month": _part("month"),
    "day": _part("day"),
    "isodow": _part("isodow"),
    "hour": _part("hour"),
    "minute": _part("minute"),
    "date_trunc": _date_trunc,
}
"""What is on the list, by the names of `dpsql.plan.functions`."""
