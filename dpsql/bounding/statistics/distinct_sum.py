"""Sums of distinct values: each unit brings a limited number of them to a group."""

from __future__ import annotations

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.errors import Refused
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.bounded_release.statistic import Discretized, DistinctSum
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe
from dpsql.schema.sql_type import Integer


def max_values(
    call: AggregateCall, units: frozenset[Expression], domains: Environment
) -> int | None:
    """The largest number of values of `call`'s argument of one unit; None if they aren't listed.

    A column in `units`, which identify the unit, has one value.
    """
    (argument,) = call.arguments
    if argument in units:
        return 1
    values = domain(argument, domains).values
    return None if values is None else max(1, len(values))


def distinct_sum(call: AggregateCall, value: Discretized, limit: int | None) -> DistinctSum:
    """The term of the sum of distinct `value`; Refused where a step may merge two values."""
    if value.decimal is None and not (isinstance(value.argument.type, Integer) and value.step == 1):
        name, text = call.function.value, describe(value.argument)
        rounded = f"{name}(DISTINCT CAST({text} AS DECIMAL(18, 2)))"
        raise Refused(
            f"{name}(DISTINCT {text}) of values that no step of its bounds tells apart",
            at=call.at,
            hint=rounded,
            note="aggregate_distinct",
            fix=rounded,
        )
    return DistinctSum(value, limit)
