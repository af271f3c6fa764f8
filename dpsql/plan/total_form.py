"""Total forms of aggregates and windows over one unit's rows, in which none of them can raise.

The tables are closed: a function has no form for types that it doesn't name, and a call without a
form is refused. `tests/functions/test_hostile_statements.py` runs forms on the ends of their types.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from dpsql.plan.aggregate import AggregateFunction, OpenFunction
from dpsql.schema.sql_type import (
    Array,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    Null,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

ROUNDED_TO = 18
"""Digits after the point to which wide decimals are rounded before they are summed."""

ROOM = 10
"""Digits before the point that a wide decimal keeps besides, so that billions of rows fit."""


class TotalForm(Enum):
    """The conversion of an argument that makes a function of it total.

    AS_IS: the function is total over its values. IN_STEPS: a double becomes a number of steps, NULL
    where it has none, since a sum of doubles depends on their order. IN_64_BITS: integers beyond 64
    bits are NULL, since a sum of wider ones can overflow. ROUNDED: likewise decimals of too many
    digits, which are rounded. AS_MOMENTS: dates become timestamps, as which they are interpolated;
    NULL where they can't.
    """

    AS_IS = "as it is"
    IN_STEPS = "in steps"
    IN_64_BITS = "in 64 bits"
    ROUNDED = "rounded"
    AS_MOMENTS = "as moments"


def aggregate_form(
    function: AggregateFunction | OpenFunction, argument: SqlType | None
) -> TotalForm | None:
    """The form of an aggregate over one unit's rows; None if it has none.

    `argument` is None for count(*). Variances have no form because they add doubles in some order;
    modes and arguments of extremes because they take one of several rows that tie.
    """
    match function:
        case AggregateFunction.COUNT:
            return TotalForm.AS_IS
        case AggregateFunction.SUM | AggregateFunction.AVG:
            return None if argument is None else _summed(argument)
        case AggregateFunction.MIN | AggregateFunction.MAX | AggregateFunction.QUANTILE_DISC:
            return None if argument is None else _chosen(argument)
        case AggregateFunction.QUANTILE_CONT:
            return None if argument is None else _interpolated(argument)
        case OpenFunction.BOOL_OR | OpenFunction.BOOL_AND:
            return TotalForm.AS_IS if isinstance(argument, Boolean) else None
        case (
            AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.STDDEV_POP
            | AggregateFunction.STDDEV_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.COVAR_SAMP
            | AggregateFunction.CORR
            | AggregateFunction.REGR_SLOPE
            | AggregateFunction.REGR_INTERCEPT
            | AggregateFunction.REGR_R2
            | AggregateFunction.MODE
            | AggregateFunction.ARG_MAX
            | AggregateFunction.ARG_MIN
            | AggregateFunction.WEIGHTED_MAJORITY
            | AggregateFunction.ABOVE_THRESHOLD
            | OpenFunction.ANY_VALUE
            | OpenFunction.FIRST
            | OpenFunction.LAST
            | OpenFunction.STRING_AGG
            | OpenFunction.PRODUCT
            | OpenFunction.KURTOSIS
            | OpenFunction.KURTOSIS_POP
            | OpenFunction.SKEWNESS
            | OpenFunction.ENTROPY
            | OpenFunction.MAD
            | OpenFunction.BIT_AND
            | OpenFunction.BIT_OR
            | OpenFunction.BIT_XOR
        ):
            return None
        case missing:
            assert_never(missing)


def rounded_type(scale: int) -> Decimal:
    """The type to which decimals of `scale` digits after the point are rounded."""
    digits = min(scale, ROUNDED_TO)
    return Decimal(max(ROUNDED_TO, digits + ROOM), digits)


def window_form(function: str, argument: SqlType | None) -> TotalForm | None:
    """The form of a window function over one unit's rows; None if it has none.

    A running sum of doubles has none: in steps it would differ from that of another frame.
    """
    match function:
        case "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile":
            return TotalForm.AS_IS
        case "lag" | "lead" | "first_value" | "last_value" | "nth_value" | "count":
            return TotalForm.AS_IS
        case "min" | "max" | "quantile_disc":
            return None if argument is None else _chosen(argument)
        case "quantile_cont":
            return None if argument is None else _interpolated(argument)
        case "sum" | "avg":
            form = None if argument is None else _summed(argument)
            return None if form is TotalForm.IN_STEPS else form
        case _:
            return None


def _summed(kind: SqlType) -> TotalForm | None:
    match kind:
        case Integer(bits=bits):
            return TotalForm.IN_64_BITS if bits > 32 else TotalForm.AS_IS
        case Decimal(precision=precision):
            return TotalForm.ROUNDED if precision > ROUNDED_TO else TotalForm.AS_IS
        case Double():
            return TotalForm.IN_STEPS
        case Boolean() | Varchar() | Date() | Timestamp() | Interval() | Uuid() | Null() | Array():
            return None
        case missing:
            assert_never(missing)


def _chosen(kind: SqlType) -> TotalForm | None:
    """The form of a function that takes one of the values by their order."""
    match kind:
        case Boolean() | Integer() | Decimal() | Double() | Varchar():
            return TotalForm.AS_IS
        case Date() | Timestamp() | Uuid() | Null():
            return TotalForm.AS_IS
        case Interval() | Array():
            return None
        case missing:
            assert_never(missing)


def _interpolated(kind: SqlType) -> TotalForm | None:
    match kind:
        case Integer() | Decimal() | Double() | Timestamp():
            return TotalForm.AS_IS
        case Date():
            return TotalForm.AS_MOMENTS
        case Boolean() | Varchar() | Interval() | Uuid() | Null() | Array():
            return None
        case missing:
            assert_never(missing)
