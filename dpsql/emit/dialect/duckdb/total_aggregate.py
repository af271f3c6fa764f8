"""Aggregates and windows of released rows where DuckDB's own raise: NULL, or wider.

    sum(revenue), of two revenues of 9 · 10^37

A sum is one of its terms' digits in a BIGNUM, which has no largest value: exact, in whatever order
the rows come, and NULL if its type doesn't hold it. A mean is that sum over how many they are. The
other functions are attempted on the list of their values, which windows don't have. All of it takes
several times what the plain form takes, which is tried first.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.function_call import cast, try_, try_cast
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.sql.identifier import column_ref
from dpsql.plan.aggregate import AggregateFunction, OpenFunction
from dpsql.schema.sql_type import HUGEINT, Decimal, Double, SqlType

_SUMMED: Final = frozenset({AggregateFunction.SUM.value, AggregateFunction.AVG.value})

ATTEMPTED: Final = frozenset(
    {OpenFunction.SKEWNESS.value, OpenFunction.KURTOSIS.value, OpenFunction.KURTOSIS_POP.value}
)
"""What raises where a result is no finite number, as of 10^308, -10^308 and 0."""


def may_overflow(function: str, argument: SqlType) -> bool:
    """Whether DuckDB adds up values of this type in 128 bits, which two of them may exceed.

    Decimals of 18 digits and integers of 64 bits don't: it would take 10^19 rows.
    """
    is_wide = argument == HUGEINT or (isinstance(argument, Decimal) and argument.precision > 18)
    return function in _SUMMED and is_wide


def sum_or_mean(
    function: str,
    value: exp.Expr,
    kind: SqlType,
    result: SqlType,
    over: Callable[[str, list[exp.Expr]], exp.Expr],
) -> exp.Expr:
    """The sum or the mean of whatever numbers `value` of type `kind`, which is of type `result`.

    `over` is a plain function, by its name, of its arguments over the rows that are meant.
    """
    summed = over("sum", [_digits(value, kind)])
    if function == AggregateFunction.SUM.value:
        return _total(summed, result)
    return _mean(summed, over("count", [value.copy()]), kind)


def _digits(value: exp.Expr, kind: SqlType) -> exp.Expr:
    """`value`, an integer or a decimal, in units of its last digit: 1.50 is 150."""
    if not isinstance(kind, Decimal):
        return cast(value, "BIGNUM")
    if not kind.scale:
        return cast(cast(value, str(HUGEINT)), "BIGNUM")
    nothing = [exp.Literal.string("."), exp.Literal.string("")]
    text = exp.Anonymous(this="replace", expressions=[cast(value, "VARCHAR"), *nothing])
    return cast(text, "BIGNUM")


def _total(summed: exp.Expr, kind: SqlType) -> exp.Expr:
    """A sum of digits in its type `kind`; NULL where that is too small."""
    whole = try_cast(summed, HUGEINT)
    if not isinstance(kind, Decimal):
        return whole
    in_units = try_cast(whole, Decimal(38, 0))
    if not kind.scale:
        return in_units
    # Of 38 digits in both types: a product that has as many can't overflow.
    unit = emit_literal(Fraction(1, 10**kind.scale), Decimal(kind.scale, kind.scale))
    return exp.Paren(this=exp.Mul(this=in_units, expression=unit))


def _mean(summed: exp.Expr, count: exp.Expr, kind: SqlType) -> exp.Expr:
    """The mean of `count` values of type `kind`, whose digits' sum is `summed`; NULL of none."""
    scale = kind.scale if isinstance(kind, Decimal) else 0
    units = exp.Mul(this=count, expression=emit_literal(10**scale, Double()))
    number = cast(summed, str(Double()))
    none = exp.Literal.number(0)
    return exp.Paren(this=exp.Div(this=number, expression=exp.Nullif(this=units, expression=none)))


def attempted(function: str, values: exp.Expr) -> exp.Expr:
    """`function` of a list of values; NULL where it raises.

    TRY takes no aggregate within it. A lambda binds the list to a name.
    """
    name = exp.Literal.string(function)
    called = exp.Anonymous(this="list_aggregate", expressions=[column_ref("v"), name])
    each = exp.Lambda(this=try_(called), expressions=[exp.to_identifier("v")], colon=True)
    lists = exp.Array(expressions=[values])
    results = exp.Anonymous(this="list_transform", expressions=[lists, each])
    first = exp.Literal.number(1)
    return exp.Anonymous(this="list_extract", expressions=[results, first])
