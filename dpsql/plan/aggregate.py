"""Aggregate functions and their calls: which have a rule, and over what."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from dpsql.errors import Span
from dpsql.plan.expression import Column, Expression
from dpsql.plan.sort_key import SortKey
from dpsql.schema.sql_type import SqlType


class AggregateFunction(Enum):
    """Aggregates that have a rule, by DuckDB's names.

    A median is the continuous quantile of one half.
    """

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"
    COVAR_POP = "covar_pop"
    COVAR_SAMP = "covar_samp"
    CORR = "corr"
    REGR_SLOPE = "regr_slope"
    REGR_INTERCEPT = "regr_intercept"
    REGR_R2 = "regr_r2"
    QUANTILE_CONT = "quantile_cont"
    QUANTILE_DISC = "quantile_disc"
    MODE = "mode"
    ARG_MAX = "arg_max"
    ARG_MIN = "arg_min"


class OpenFunction(Enum):
    """Aggregates of public and released rows, by DuckDB's names; they are computed as they are.

    `bool_or` and `bool_and` may be of one unit's rows too: any order of them gives the same.
    """

    BOOL_OR = "bool_or"
    BOOL_AND = "bool_and"
    ANY_VALUE = "any_value"
    FIRST = "first"
    LAST = "last"
    STRING_AGG = "string_agg"
    PRODUCT = "product"
    KURTOSIS = "kurtosis"
    KURTOSIS_POP = "kurtosis_pop"
    SKEWNESS = "skewness"
    ENTROPY = "entropy"
    MAD = "mad"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"


SPREADS = frozenset(
    {
        AggregateFunction.VAR_POP,
        AggregateFunction.VAR_SAMP,
        AggregateFunction.STDDEV_POP,
        AggregateFunction.STDDEV_SAMP,
    }
)
"""Functions of one column's first two moments."""

PAIRED = frozenset(
    {
        AggregateFunction.COVAR_POP,
        AggregateFunction.COVAR_SAMP,
        AggregateFunction.CORR,
        AggregateFunction.REGR_SLOPE,
        AggregateFunction.REGR_INTERCEPT,
        AggregateFunction.REGR_R2,
    }
)
"""Functions of two columns' moments, over the rows that have both; y comes before x."""

QUANTILES = frozenset({AggregateFunction.QUANTILE_CONT, AggregateFunction.QUANTILE_DISC})

ARGUMENTS_OF_EXTREMES = frozenset({AggregateFunction.ARG_MAX, AggregateFunction.ARG_MIN})


class OutputKind(Enum):
    """What is asked of a noisy aggregate: its value, or how far the noise may have moved it.

    An interval holds what the aggregate is without noise in 95 of 100 cases. What limits leave out
    is measured: rows whose value was clamped, units with more rows in a group than count there.
    """

    VALUE = "value"
    LOW = "dp_interval_low"
    HIGH = "dp_interval_high"
    STDDEV = "dp_stddev"
    CLIPPED = "dp_clipped"
    OVER = "dp_over_limit"


LEFT_OUT = frozenset({OutputKind.CLIPPED, OutputKind.OVER})
"""What is measured for itself, whatever the aggregate."""


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function([DISTINCT] arguments [ORDER BY order]) [FILTER (WHERE filter)]`.

    No argument is count(*). `fraction` is how much of the values lies below a quantile; where it is
    an even number of rows, the value above them is meant if it was counted `from_above`, else the
    one below. `at` is where the statement asks for it.
    """

    function: AggregateFunction | OpenFunction
    arguments: tuple[Expression, ...]
    distinct: bool
    filter: Expression | None
    type: SqlType
    fraction: Fraction | None = None
    from_above: bool = False
    output_kind: OutputKind = OutputKind.VALUE
    order: tuple[SortKey, ...] = ()
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AggregateOutput:
    """An aggregate and the column that holds it."""

    column: Column
    call: AggregateCall
