"""Calls of scalar functions as DuckDB has them, in total form."""

from __future__ import annotations

from sqlglot import exp

from dpsql.plan.function import FUNCTIONS, Total
from dpsql.schema.type import SqlType


def emit_call(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    """`name(arguments)`, NULL where it would raise."""
    match name:
        case "like":
            call: exp.Expr = exp.paren(exp.Like(this=arguments[0], expression=arguments[1]))
        case "ilike":
            call = exp.paren(exp.ILike(this=arguments[0], expression=arguments[1]))
        case _:
            call = exp.Anonymous(this=name, expressions=arguments)
    return attempt(call) if FUNCTIONS[name].total is Total.TRY else call


def attempt(expression: exp.Expr) -> exp.Expr:
    """`TRY(expression)`: NULL in the rows where it raises."""
    return exp.Anonymous(this="TRY", expressions=[expression])


def try_cast(expression: exp.Expr, target: SqlType) -> exp.Expr:
    """`TRY_CAST(expression AS target)`."""
    return exp.TryCast(
        this=expression, to=exp.DataType.build(str(target), dialect="duckdb"), requires_string=False
    )
