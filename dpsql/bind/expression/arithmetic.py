"""Operators on numbers and moments, typed; constants are computed when the statement is bound."""

from __future__ import annotations

import datetime as dt

from sqlglot import exp

from dpsql.bind.expression.cast import castable
from dpsql.bind.expression.coercion import adapted
from dpsql.bind.expression.interval_literal import Length
from dpsql.bind.function.function_call import bind_call, registered
from dpsql.bind.syntax.parse import span
from dpsql.errors import TypeFault
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Expression, Literal
from dpsql.plan.expression_text import describe
from dpsql.plan.functions.evaluation import Operand, evaluated
from dpsql.plan.functions.type_rules import converts
from dpsql.plan.numeric_types import arithmetic_type
from dpsql.schema.sql_type import BIGINT, Date, Interval, Null, Timestamp


def combined(
    op: ArithmeticOperator, left: Expression, right: Expression, node: exp.Expr
) -> Expression:
    """`left op right`: of numbers, or of a date and days; TypeFault for other types."""
    if isinstance(left.type, Null):
        left = Literal(None, right.type)
    if isinstance(right.type, Null):
        right = Literal(None, left.type)
    if isinstance(left.type, Date | Timestamp) or isinstance(right.type, Date | Timestamp):
        return _of_moments(op, left, right, node)
    first, second = adapted([left, right])
    kind = arithmetic_type(op, first, second)
    if kind is None:
        raise TypeFault(
            f"{left.type} {op.value} {right.type} has no rule",
            at=span(node),
            hint="convert the operands with CAST(… AS …) to numbers",
        )
    if isinstance(left, Literal) and isinstance(right, Literal):
        operands = Operand((left.value,), left.type), Operand((right.value,), right.type)
        value = (evaluated((op.value, 0, 1), operands, kind, 1) or (None,))[0]
        if value is not None:
            return Literal(value, kind)
    return Arithmetic(op, left, right, kind)


def shifted(
    base: Expression, by: Length, count: Expression | None, sign: int, node: exp.Expr
) -> Expression:
    """`base`, a date or timestamp, moved by a length of time, `count` times if that is there.

    `sign` is 1 or -1.
    """
    if not isinstance(base.type, Date | Timestamp):
        raise TypeFault(
            f"{describe(base)} is {base.type}, and an INTERVAL moves a date or a timestamp",
            at=span(node),
            hint=f"write CAST({describe(base)} AS DATE) + INTERVAL '1 day'"
            if castable(base.type, Date())
            else "write moment + INTERVAL '1 day', or a number + 1",
        )
    if count is not None and by.whole and not converts(count, BIGINT):
        raise TypeFault(
            f"{describe(count)} is {count.type}, and whole units are counted",
            at=span(node),
            hint=f"write moment + INTERVAL '{by.duration.describe()}' * {describe(count)}",
        )
    duration = Literal(str(by.duration * sign), Interval())
    values = (base, duration) if count is None else (base, duration, count)
    return bind_call(registered("date_add", node), values, node)


def midnights(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both sides of a comparison: a midnight that is compared with a date becomes its day.

    Such a comparison narrows the domain of the date.
    """
    return _day(left, other=right), _day(right, other=left)


def _day(expression: Expression, other: Expression) -> Expression:
    match expression:
        case Literal(value=dt.datetime() as moment) if (
            isinstance(other.type, Date) and moment.time() == dt.time()
        ):
            return Literal(moment.date(), Date())
        case _:
            return expression


def _of_moments(
    op: ArithmeticOperator, left: Expression, right: Expression, node: exp.Expr
) -> Expression:
    if op in (ArithmeticOperator.MULTIPLY, ArithmeticOperator.DIVIDE):
        raise TypeFault(
            f"{left.type} {op.value} {right.type} has no rule",
            at=span(node),
            hint="measure it first: date_diff('day', DATE '2000-01-01', moment)",
            note="functions_time",
        )
    if Timestamp() in (left.type, right.type):
        are_moments = {left.type, right.type} <= {Date(), Timestamp()}
        is_length = op is ArithmeticOperator.SUBTRACT and are_moments
        seconds = f"epoch({describe(left)} - {describe(right)})" if is_length else ""
        raise TypeFault(
            f"{left.type} {op.value} {right.type} has no rule",
            at=span(node),
            hint=f"{seconds} counts seconds" if seconds else "moment + INTERVAL '1 day'",
            note="functions_time",
            fix=seconds,
        )
    return bind_call(registered(op.value, node), (left, right), node)
