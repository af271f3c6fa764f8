"""The type of an aggregate, as DuckDB gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from dpsql.bind.expression.cast import castable
from dpsql.bind.expression.coercion import COUNT_TYPE, is_comparable, sum_type
from dpsql.plan.aggregate import (
    ARGUMENTS_OF_EXTREMES,
    PAIRED,
    SPREADS,
    AggregateFunction,
    OpenFunction,
)
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe
from dpsql.plan.numeric_types import is_number
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)


def is_summed(function: AggregateFunction | OpenFunction) -> bool:
    """Whether `function` adds its arguments up, so that they must be numbers."""
    return function in SPREADS | PAIRED | {AggregateFunction.SUM, AggregateFunction.AVG}


def result_type(
    function: AggregateFunction | OpenFunction, arguments: Sequence[SqlType]
) -> SqlType | None:
    """The type of `function` over arguments of these types; None if it doesn't take them."""
    match function:
        case OpenFunction():
            return _open_type(function, arguments)
        case AggregateFunction.COUNT:
            return COUNT_TYPE
        case AggregateFunction.SUM:
            return sum_type(arguments[0])
        case (
            AggregateFunction.AVG
            | AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.STDDEV_POP
            | AggregateFunction.STDDEV_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.COVAR_SAMP
            | AggregateFunction.CORR
            | AggregateFunction.REGR_SLOPE
            | AggregateFunction.REGR_INTERCEPT
            | AggregateFunction.REGR_R2
        ):
            return None if any(sum_type(a) is None for a in arguments) else Double()
        case AggregateFunction.QUANTILE_CONT:
            return _interpolated(arguments[0])
        case (
            AggregateFunction.MIN
            | AggregateFunction.MAX
            | AggregateFunction.MODE
            | AggregateFunction.QUANTILE_DISC
            | AggregateFunction.ARG_MAX
            | AggregateFunction.ARG_MIN
        ):
            compared = arguments[1:] if function in ARGUMENTS_OF_EXTREMES else arguments
            return arguments[0] if all(map(is_comparable, compared)) else None
        case AggregateFunction.WEIGHTED_MAJORITY | AggregateFunction.ABOVE_THRESHOLD:
            return None  # no text calls it
        case missing:
            assert_never(missing)


def _open_type(function: OpenFunction, arguments: Sequence[SqlType]) -> SqlType | None:
    (kind, *_) = arguments
    match function:
        case OpenFunction.BOOL_OR | OpenFunction.BOOL_AND:
            return kind if isinstance(kind, Boolean) else None
        case OpenFunction.ANY_VALUE | OpenFunction.FIRST | OpenFunction.LAST:
            return kind
        case OpenFunction.STRING_AGG:
            return kind if all(isinstance(a, Varchar) for a in arguments) else None
        case OpenFunction.BIT_AND | OpenFunction.BIT_OR | OpenFunction.BIT_XOR:
            return kind if isinstance(kind, Integer) else None
        case (
            OpenFunction.PRODUCT
            | OpenFunction.KURTOSIS
            | OpenFunction.KURTOSIS_POP
            | OpenFunction.SKEWNESS
        ):
            # A boolean can be summed, but isn't taken for a double.
            numeric = sum_type(kind) is not None and not isinstance(kind, Boolean)
            return Double() if numeric else None
        case OpenFunction.ENTROPY:
            return Double()
        case OpenFunction.MAD:
            median_type = _interpolated(kind)
            return None if isinstance(median_type, Timestamp) else median_type
        case missing:
            assert_never(missing)


def _interpolated(kind: SqlType) -> SqlType | None:
    """The type of a value between two of type `kind`; None where there is none."""
    match kind:
        case Integer():
            return Double()
        case Decimal() | Double() | Timestamp():
            return kind
        case Date():
            return Timestamp()
        case _:
            return None


def conversion_hint(
    function: AggregateFunction | OpenFunction, arguments: Sequence[Expression]
) -> str:
    """What to write for `arguments` of types that `function` doesn't take; empty if nothing."""
    match function:
        case OpenFunction.BOOL_OR | OpenFunction.BOOL_AND:
            wanted: SqlType = Boolean()
        case OpenFunction.STRING_AGG:
            wanted = Varchar()
        case _:
            wanted = Double()
    instead = [text for argument in arguments if (text := _converted(argument, wanted))]
    return f"convert it: {', '.join(instead)}" if instead else ""


def _converted(argument: Expression, wanted: SqlType) -> str:
    if argument.type == wanted or (is_number(argument.type) and is_number(wanted)):
        return ""
    if castable(argument.type, wanted):
        return f"CAST({describe(argument)} AS {wanted})"
    if isinstance(argument.type, Date | Timestamp) and isinstance(wanted, Double):
        return f"date_diff('day', DATE '2000-01-01', {describe(argument)})"
    return ""
