"""Exact aggregates of one unit's rows, and counts of public ones, on Spark."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.spark import guard
from dpsql.emit.dialect.spark.expression import emit_expression
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction
from dpsql.plan.expression import Column
from dpsql.plan.total_form import ROUNDED_TO, rounded_type
from dpsql.schema.sql_type import Decimal, Double, Integer

_STEPS: Final = 2**20
"""Doubles are summed as multiples of 2^-20, as they are on DuckDB."""

_ROWS: Final = 10
"""A sum has so many digits more than its terms, which Spark adds by itself."""


def emit_aggregate(call: AggregateCall, own: Column | None) -> exp.Expr:
    """`call` over the rows of a group; Refused where no rule says how."""
    if call.fraction is not None or call.order:
        raise guard.refused(call.function.value)
    if own is None and call.function is not AggregateFunction.COUNT:
        raise guard.refused(f"{call.function.value} of public rows")
    match call.function, call.arguments:
        case AggregateFunction.COUNT, ():
            return _filtered(guard.call("COUNT", exp.Star()), call)
        case AggregateFunction.COUNT, (argument,):
            return _filtered(guard.call("COUNT", _values(call, emit_expression(argument))), call)
        case AggregateFunction.SUM | AggregateFunction.AVG as function, (argument,):
            return _sum(call, argument.type, emit_expression(argument), of=function)
        case (
            (
                AggregateFunction.MIN
                | AggregateFunction.MAX
                | OpenFunction.BOOL_AND
                | OpenFunction.BOOL_OR
            ) as function,
            (argument,),
        ):
            return _filtered(guard.call(function.value, emit_expression(argument)), call)
        case function, _:
            raise guard.refused(function.value)


def _sum(call: AggregateCall, kind: object, value: exp.Expr, *, of: AggregateFunction) -> exp.Expr:
    whole = guard.decimal_name(guard.WIDE - _ROWS, 0)
    match kind:
        case Integer() if kind.bits <= 64:
            terms = guard.cast(value, whole)
        case Integer():
            terms = guard.cast(guard.try_cast(value, "BIGINT"), whole)
        case Decimal(precision=precision, scale=scale) if precision <= ROUNDED_TO:
            terms = guard.cast(value, guard.decimal_name(guard.WIDE - _ROWS, scale))
        case Decimal(scale=scale):
            narrow = rounded_type(scale)
            rounded = guard.try_cast(value, guard.type_name(narrow))
            terms = guard.cast(rounded, guard.decimal_name(guard.WIDE - _ROWS, narrow.scale))
        case Double(bits=64) if not call.distinct:
            product = exp.Paren(this=exp.Mul(this=value, expression=guard.double(_STEPS)))
            steps = guard.try_cast(guard.call("RINT", product), "BIGINT")
            terms = guard.cast(steps, whole)
        case _:
            raise guard.refused(f"{of.value} of {kind}")
    total = _filtered(guard.call("SUM", _values(call, terms)), call)
    is_double = isinstance(kind, Double)
    if is_double:
        total = exp.Div(this=guard.cast(total, "DOUBLE"), expression=guard.double(_STEPS))
    if of is AggregateFunction.SUM:
        return (
            exp.Paren(this=total)
            if is_double
            else guard.try_cast(total, guard.type_name(call.type))
        )
    count = _filtered(guard.call("COUNT", _values(call, terms.copy())), call)
    dividend = exp.Paren(this=total) if is_double else guard.cast(total, "DOUBLE")
    return guard.call("TRY_DIVIDE", dividend, guard.cast(count, "DOUBLE"))


def _values(call: AggregateCall, value: exp.Expr) -> exp.Expr:
    return exp.Distinct(expressions=[value]) if call.distinct else value


def _filtered(aggregate: exp.Expr, call: AggregateCall) -> exp.Expr:
    if call.filter is None:
        return aggregate
    return exp.Filter(this=aggregate, expression=exp.Where(this=emit_expression(call.filter)))
