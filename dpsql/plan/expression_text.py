"""Texts of expressions for people, in SQL's own notation."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import assert_never

from dpsql.plan.duration import Duration
from dpsql.plan.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expression,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    Parameter,
    Scalar,
)
from dpsql.schema.sql_type import Double, Interval

_WORDS = ("like", "ilike", "glob")


def describe(expression: Expression) -> str:
    """`expression` in one line, for people; the text never reaches the engine."""
    match expression:
        case Literal(value=str() as text, type=Interval()):
            length = Duration.read(text)
            return f"INTERVAL '{text if length is None else length.describe()}'"
        case Literal(value=Fraction() as number, type=Double()):
            return repr(float(number)).removesuffix(".0")
        case Literal(value=value):
            return describe_value(value)
        case Parameter(number=number):
            return f"${number}"
        case Column(name=name):
            return name
        case Arithmetic(op=op, left=left, right=right):
            return f"{_operand(left)} {op.value} {_operand(right)}"
        case Compare(op=comparison, left=left, right=right):
            return f"{_operand(left)} {comparison.value} {_operand(right)}"
        case And(operands=operands):
            return " AND ".join(map(_operand, operands))
        case Or(operands=operands):
            return " OR ".join(map(_operand, operands))
        case Not(operand=operand):
            return f"NOT {_operand(operand)}"
        case IsNull(operand=operand):
            return f"{_operand(operand)} IS NULL"
        case InList(operand=operand, values=values):
            return f"{_operand(operand)} IN ({', '.join(map(describe, values))})"
        case Case(branches=branches, otherwise=otherwise):
            whens = " ".join(
                f"WHEN {describe(b.condition)} THEN {describe(b.result)}" for b in branches
            )
            return f"CASE {whens} ELSE {describe(otherwise)} END"
        case Cast(operand=operand, type=target):
            return f"CAST({describe(operand)} AS {target})"
        case Call(function=function, arguments=arguments):
            return _call(function, arguments)
        case missing:
            assert_never(missing)


def outline(expression: Expression, cases: int = 2) -> str:
    """`describe`, where a CASE that is the result of so many others is left out.

    Of a search among a hundred constants, the first comparisons tell what it is.
    """
    match expression:
        case Case() if not cases:
            return "…"
        case Case(branches=branches, otherwise=otherwise):
            whens = " ".join(
                f"WHEN {describe(b.condition)} THEN {outline(b.result, cases - 1)}"
                for b in branches
            )
            return f"CASE {whens} ELSE {outline(otherwise, cases - 1)} END"
        case _:
            return describe(expression)


def _call(function: str, arguments: tuple[Expression, ...]) -> str:
    if function == "date_add":
        base, *length = map(_operand, arguments)
        return f"{base} + {' * '.join(length)}"
    if len(arguments) == 2 and (not function.isidentifier() or function in _WORDS):
        left, right = map(_operand, arguments)
        return f"{left} {function.upper()} {right}"
    return f"{function}({', '.join(map(describe, arguments))})"


def describe_value(value: Scalar) -> str:
    """The text of a constant, as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case Fraction():
            return describe_number(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"


def describe_number(value: Fraction) -> str:
    """The decimal expansion of `value` where it ends within 40 digits, else a fraction."""
    digits = 0
    while value.denominator > 1 and digits < 40:
        scaled = value * 10**digits
        if scaled.denominator == 1:
            break
        digits += 1
    scaled = value * 10**digits
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    text = f"{abs(scaled.numerator):0{digits + 1}d}"
    sign = "-" if value < 0 else ""
    return sign + (text if not digits else f"{text[:-digits]}.{text[-digits:]}")


def _operand(expression: Expression) -> str:
    text = describe(expression)
    return f"({text})" if _is_infix(expression) else text


def _is_infix(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return not expression.function.isidentifier() or expression.function == "date_add"
    return isinstance(expression, Arithmetic | Compare | And | Or | Not)
