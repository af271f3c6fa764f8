"""Exact aggregates of one unit's rows, and counts of public ones, on PostgreSQL."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.postgres import guard
from dpsql.emit.dialect.postgres.expression import byte_order, emit_expression
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction
from dpsql.plan.expression import Column
from dpsql.plan.total_form import ROUNDED_TO, rounded_type
from dpsql.schema.sql_type import BIGINT, Boolean, Decimal, Double, Integer, Varchar

_STEPS: Final = 2**20
"""Doubles are summed as multiples of 2^-20, as they are on DuckDB."""


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
        case (AggregateFunction.MIN | AggregateFunction.MAX) as function, (argument,):
            if isinstance(argument.type, Boolean):
                raise guard.refused(f"{function.value} of BOOLEAN")
            value = emit_expression(argument)
            ordered = byte_order(value) if isinstance(argument.type, Varchar) else value
            return _filtered(guard.call(function.value, ordered), call)
        case (OpenFunction.BOOL_AND | OpenFunction.BOOL_OR) as function, (argument,):
            return _filtered(guard.call(function.value, emit_expression(argument)), call)
        case function, _:
            raise guard.refused(function.value)


def _sum(call: AggregateCall, kind: object, value: exp.Expr, *, of: AggregateFunction) -> exp.Expr:
    match kind:
        case Integer(bits=bits) if bits < 64:
            terms = guard.exact(value)
        case Integer():
            terms = guard.in_range(guard.exact(value), BIGINT)
        case Decimal(precision=precision) if precision <= ROUNDED_TO:
            terms = guard.exact(value)
        case Decimal(scale=scale):
            narrow = rounded_type(scale)
            rounded = guard.call("ROUND", guard.exact(value), integer(narrow.scale))
            terms = guard.in_range(rounded, narrow)
        case Double(bits=64) if not call.distinct:
            near = guard.in_open_range(value, Fraction(2**43))
            product = exp.Mul(this=near, expression=guard.double(_STEPS))
            terms = guard.exact(guard.cast(exp.Paren(this=product), "BIGINT"))
        case _:
            raise guard.refused(f"{of.value} of {kind}")
    total = _filtered(guard.call("SUM", _values(call, terms)), call)
    is_double = isinstance(kind, Double)
    if is_double:
        total = exp.Div(this=guard.cast(total, "DOUBLE PRECISION"), expression=guard.double(_STEPS))
    if of is AggregateFunction.SUM:
        if isinstance(call.type, Decimal) and call.type.scale > ROUNDED_TO:
            return guard.in_range(total, call.type)
        return exp.Paren(this=total) if is_double else total
    count = _filtered(guard.call("COUNT", _values(call, terms.copy())), call)
    divisor = guard.cast(guard.call("NULLIF", count, integer(0)), "DOUBLE PRECISION")
    dividend = exp.Paren(this=total) if is_double else guard.cast(total, "DOUBLE PRECISION")
    return exp.Paren(this=exp.Div(this=dividend, expression=divisor))


def _values(call: AggregateCall, value: exp.Expr) -> exp.Expr:
    return exp.Distinct(expressions=[value]) if call.distinct else value


def _filtered(aggregate: exp.Expr, call: AggregateCall) -> exp.Expr:
    if call.filter is None:
        return aggregate
    return exp.Filter(this=aggregate, expression=exp.Where(this=emit_expression(call.filter)))
