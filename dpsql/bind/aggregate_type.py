"""The type of an aggregate, as DuckDB gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from dpsql.bind.coercion import COUNT_TYPE, is_comparable, sum_type
from dpsql.plan.aggregate import ARGUMENTS_OF_EXTREMES, PAIRED, SPREADS, AggregateFunction
from dpsql.schema.type import (
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
)


def is_summed(function: AggregateFunction) -> bool:
    """It adds its arguments up, so they are numbers."""
    return function in SPREADS | PAIRED | {AggregateFunction.SUM, AggregateFunction.AVG}


def result_type(function: AggregateFunction, arguments: Sequence[SqlType]) -> SqlType | None:
    """The type of `function`, None if it takes no arguments of these types."""
    match function:
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
        case missing:
            assert_never(missing)


def _interpolated(kind: SqlType) -> SqlType | None:
    match kind:
        case Integer():
            return Double()
        case Decimal() | Double() | Timestamp():
            return kind
        case Date():
            return Timestamp()
        case _:
            return None
