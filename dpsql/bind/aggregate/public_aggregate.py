"""Aggregates that only public and released rows have, and what to write over private rows."""

from __future__ import annotations

from typing import assert_never

from dpsql.errors import Refused
from dpsql.plan.aggregate import AggregateCall, OpenFunction
from dpsql.plan.expression_text import describe


def check_private(call: AggregateCall) -> None:
    """Refuse aggregates of private rows that show a unit's value or have no bounded sensitivity."""
    if isinstance(call.function, OpenFunction):
        instead = _instead(call.function, describe(call.arguments[0]))
        raise Refused(
            f"{call.function.value}() of private rows has no rule",
            at=call.at,
            hint=instead,
            note="open_aggregates",
            fix=instead if call.function in _TRUTHS and call.filter is None else "",
        )


_TRUTHS = frozenset({OpenFunction.BOOL_OR, OpenFunction.BOOL_AND})
"""Aggregates whose value follows from whether a count is above 0."""


def _instead(function: OpenFunction, value: str) -> str:
    match function:
        case OpenFunction.BOOL_OR:
            return f"count(*) FILTER (WHERE {value}) > 0"
        case OpenFunction.BOOL_AND:
            return f"count(*) FILTER (WHERE NOT ({value})) < 1"
        case OpenFunction.ANY_VALUE | OpenFunction.FIRST | OpenFunction.LAST:
            return f"add {value} to GROUP BY, or ask for mode({value})"
        case OpenFunction.STRING_AGG | OpenFunction.ENTROPY:
            return f"{function.value}() of the rows of SELECT {value}, count(*) … GROUP BY {value}"
        case OpenFunction.PRODUCT:
            return f"exp(sum(ln({value}))), with bounds of {value} above 0"
        case OpenFunction.BIT_AND | OpenFunction.BIT_OR | OpenFunction.BIT_XOR:
            return f"count each bit: count(*) FILTER (WHERE {value} % 2 = 1)"
        case OpenFunction.KURTOSIS | OpenFunction.KURTOSIS_POP | OpenFunction.SKEWNESS:
            return f"avg({value}), stddev({value}) and quantiles of {value}"
        case OpenFunction.MAD:
            return f"quantile_cont({value}, 0.75) - quantile_cont({value}, 0.25)"
        case missing:
            assert_never(missing)
