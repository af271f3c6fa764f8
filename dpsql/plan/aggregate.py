"""Aggregate functions and their calls; releases compute those of AggregateFunction alone."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from msgspec import Struct

from dpsql.errors import Span
from dpsql.plan.expression import Column, Expression
from dpsql.plan.sort_key import SortKey
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import SqlType
from dpsql.structs import not_compared


class AggregateFunction(Enum):
    """The aggregates that have a rule, by DuckDB's names.

    A median is the continuous quantile of one half. No text calls the last two. WEIGHTED_MAJORITY
    is, in each group of a release, the index of the argument that DECIDE chooses by earlier ones.
    ABOVE_THRESHOLD is that of an argument, a comparison of what is summed with a constant, that
    ALERT names; the last argument is how many are named, and other groups are no rows.
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
    WEIGHTED_MAJORITY = "weighted_majority"
    ABOVE_THRESHOLD = "above_threshold"


class OpenFunction(Enum):
    """Aggregates of public and released rows, by DuckDB's names; they are computed as they are.

    `bool_or` and `bool_and` may be of one unit's rows too: their value doesn't depend on the order
    of rows.
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

NO_FUNCTION_OF_SQL = frozenset(
    {AggregateFunction.WEIGHTED_MAJORITY, AggregateFunction.ABOVE_THRESHOLD}
)
"""What statements of their own ask for, and no call of a function."""

ARGUMENTS_OF_EXTREMES = frozenset({AggregateFunction.ARG_MAX, AggregateFunction.ARG_MIN})


class OutputKind(Enum):
    """The part of a noisy aggregate that a column shows: its value, or a measure of its error.

    An interval holds the aggregate's value without noise in 95 of 100 cases. What limits leave out
    is measured: rows whose value was clamped, units with more rows in a group than count there.
    """

    VALUE = "value"
    LOW = "dp_interval_low"
    HIGH = "dp_interval_high"
    STDDEV = "dp_stddev"
    CLIPPED = "dp_clipped"
    OVER = "dp_over_limit"


LEFT_OUT = frozenset({OutputKind.CLIPPED, OutputKind.OVER})
"""Kinds that have statistics of their own, whatever the aggregate."""


@not_compared("at")
class AggregateCall(Struct, frozen=True):
    """`function([DISTINCT] arguments [ORDER BY order]) [FILTER (WHERE filter)]`.

    count(*) has no argument. `fraction` is the share of the values that lies below a quantile;
    where it is an even number of rows, the quantile is the value above them if it was counted
    `from_above`, else the value below. `at` is the call's position in the statement.
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
    at: Span | None = None


class FrequentKey(Struct, frozen=True):
    """Those of `values` that the most rows have as their `key`, and a column for each.

    As many as `columns` are chosen, no value twice: the most frequent one first, as far as noise
    tells. Of each unit at most `rows` rows of one value count, of however many values. `counted`
    has a column for the noisy count of each, if these are shown.
    """

    columns: tuple[Column, ...]
    key: Expression
    values: tuple[Value | None, ...]
    rows: int
    counted: CountedKeys | None = None


class CountedKeys(Struct, frozen=True):
    """A column for the noisy count of each chosen key, and the part of the loss for the choice."""

    columns: tuple[Column, ...]
    choice_share: Fraction


class AggregateOutput(Struct, frozen=True):
    """An aggregate, and the column for its values."""

    column: Column
    call: AggregateCall
