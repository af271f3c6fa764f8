"""Casts: of constants when the statement is bound, of other values by the engine's TRY_CAST."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.expression import literal as constant
from dpsql.bind.syntax.parse import span
from dpsql.errors import TypeFault
from dpsql.plan.expression import Cast, Expression, Literal
from dpsql.plan.numeric_types import is_number
from dpsql.schema.sql_type import BIGINT, Boolean, Date, Null, SqlType, Timestamp, Uuid, Varchar


def convert(expression: Expression, target: SqlType, node: exp.Expr) -> Expression:
    """`expression` as `target`; raises DataError if it is a constant that can't be."""
    if expression.type == target:
        return expression
    if isinstance(expression, Literal):
        return constant.cast(expression, target, span(node))
    if isinstance(expression.type, Null):
        return Literal(None, target)
    if not castable(expression.type, target):
        raise TypeFault(f"{expression.type} can't be cast to {target}", at=span(node))
    return Cast(expression, target)


def castable(source: SqlType, target: SqlType) -> bool:
    """Whether DuckDB has a cast from `source` to `target`; where one can fail, it gives NULL."""
    if isinstance(source, Varchar) or isinstance(target, Varchar):
        return True
    match source, target:
        case _ if is_number(source) or isinstance(source, Boolean):
            return is_number(target) or isinstance(target, Boolean)
        case ((Date() | Timestamp()), (Date() | Timestamp())):
            return True
        case Uuid(), Uuid():
            return True
        case _:
            return False


def summable(argument: Expression, node: exp.Expr) -> Expression:
    """The argument of a sum, where a boolean is converted to 0 or 1."""
    return convert(argument, BIGINT, node) if isinstance(argument.type, Boolean) else argument
