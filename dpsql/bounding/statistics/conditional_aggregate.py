"""Conditions inside an aggregate's argument become its FILTER, where that means the same.

sum(CASE WHEN p THEN x ELSE 0 END)  →  sum(x) FILTER (WHERE p)
count(CASE WHEN p THEN 1 END)       →  count(*) FILTER (WHERE p)

Pivots are written so. Filters can be proved to exclude each other, so that a row counts in one of
them only.
"""

from __future__ import annotations

from dpsql.plan.aggregate import SPREADS, AggregateCall, AggregateFunction
from dpsql.plan.expression import Case, Expression, Literal, conjunction
from dpsql.structs import replace

_SKIP_NULL = SPREADS | {AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.AVG}


def with_filter(call: AggregateCall) -> AggregateCall:
    """`call` with the condition of its argument as a filter; `call` itself if it has none."""
    match call.arguments:
        case (Case(branches=(branch,), otherwise=Literal(value=value)),):
            nothing = value is None and call.function in _SKIP_NULL
            zero = value == 0 and call.function is AggregateFunction.SUM
            if not nothing and not zero:
                return call
            parts = (call.filter, branch.condition)
            only = conjunction(tuple(part for part in parts if part is not None))
            return replace(call, arguments=_arguments(call, branch.result), filter=only)
        case _:
            return call


def _arguments(call: AggregateCall, result: Expression) -> tuple[Expression, ...]:
    """The arguments of the filtered call: to count a constant is to count rows."""
    counted = call.function is AggregateFunction.COUNT and not call.distinct
    if counted and isinstance(result, Literal) and result.value is not None:
        return ()
    return (result,)
