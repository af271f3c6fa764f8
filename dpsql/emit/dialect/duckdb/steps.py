"""Values and sums of them as DuckDB's integers of steps, NULL where a value has none."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.clamp import clamp_to, interval_literals
from dpsql.emit.dialect.duckdb.decimal_steps import in_64_bits, in_128_bits
from dpsql.emit.dialect.duckdb.expression import is_nan
from dpsql.emit.dialect.duckdb.function_call import try_, try_cast
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.nodes import integer
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.privacy.domain import day
from dpsql.schema.sql_type import BIGINT, HUGEINT, Date, Decimal, Double, Integer, Timestamp

_EXPECTED_ROWS: Final = 1000
"""Sums of so many are mostly the largest."""

_MAX_ROWS: Final = 2**63
"""No engine counts so many."""


def steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    """`column` as an integer of steps; NULL where it is none."""
    step, kind = value.step, value.argument.type
    match kind:
        case Double():
            # Infinities and huge values can't be cast, so doubles are clamped as doubles first.
            low, high = (emit_literal(end * step, Double()) for end in (value.low, value.high))
            clamped = clamp_to(
                exp.case().when(is_nan(column.copy()), exp.null(), copy=False), column, low, high
            )
            scaled = exp.Mul(this=clamped, expression=emit_literal(1 / step, Double()))
            return try_cast(scaled, BIGINT)
        case Integer() if step == 1:
            return try_cast(column, BIGINT)
        case Date():
            return try_(exp.Sub(this=column, expression=emit_literal(day(0), Date())))
        case Timestamp():
            return try_(exp.Anonymous(this="epoch_us", expressions=[column]))
        case Decimal() if step < 1:
            return _decimal_steps(value, kind, column)
        case _:
            # Coarser than one: truncation toward zero keeps a value within its bounds.
            whole = exp.IntDiv(this=try_cast(column, HUGEINT), expression=integer(int(step)))
            return try_cast(try_(whole), BIGINT)


def _decimal_steps(value: Discretized, kind: Decimal, column: exp.Expr) -> exp.Expr:
    """A decimal as an integer of steps; what may be too long for 64 bits is clamped first."""
    scale = len(str(int(1 / value.step))) - 1
    if scale < kind.scale:
        # Coarser than the type's last digit: rounded.
        kind = Decimal(38, scale)
        column = try_cast(column, kind)
    narrow = in_64_bits(column, scale, 10**kind.precision - 1, BIGINT)
    if narrow is not None:
        return narrow
    clamped = clamp_to(exp.case(), column, *interval_literals(value, kind))
    largest = max(abs(value.low), abs(value.high))
    narrow = in_64_bits(clamped, scale, largest, BIGINT)
    return in_128_bits(clamped, scale, largest, BIGINT) if narrow is None else narrow


def sum_in_steps(
    column: exp.Expr, kind: Decimal, magnitude: int, *, has_few_rows: bool
) -> exp.Expr:
    """`column`, a sum of decimals, as an integer of steps; 0 where there was nothing to sum.

    Where it `has_few_rows`, to plan a second way takes longer than it saves.
    """
    if kind.scale:
        expected = _EXPECTED_ROWS * magnitude
        ways = (
            None if has_few_rows else in_64_bits(column, kind.scale, expected, HUGEINT),
            in_128_bits(column, kind.scale, magnitude * _MAX_ROWS, HUGEINT),
        )
        first, *others = [*(way for way in ways if way is not None), integer(0)]
        return exp.Coalesce(this=first, expressions=others)
    return exp.Coalesce(this=try_cast(column, HUGEINT), expressions=[integer(0)])
