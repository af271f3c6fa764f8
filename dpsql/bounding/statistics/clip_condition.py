"""The condition by which dp_clipped(sum(x)) counts a row: bounds cut its value off."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.bounding.statistics.discretization import missing_bounds_error
from dpsql.errors import Refused
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Compare, Comparison, Expression, Literal, Or, conjunction
from dpsql.schema.sql_type import Integer


def clipped(call: AggregateCall, domains: Environment) -> Expression:
    """The condition of the rows where an argument of `call` is outside its bounds in `domains`.

    Raises Refused if there is no argument, or one has no bounds.
    """
    if not call.arguments:
        raise Refused(
            f"{call.output_kind.value}() of rows, which nothing clamps",
            at=call.at,
            hint=f"{call.output_kind.value}(sum(x)) counts the rows whose x is out of bounds",
            note="error_functions",
        )
    parts: list[Expression] = []
    for argument in call.arguments:
        bounds = domain(argument, domains).bounds
        if bounds is None or bounds.ends is None:
            raise missing_bounds_error(argument, domains, call.at)
        low, high = bounds.ends
        if isinstance(argument.type, Integer):
            low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
        parts.append(Compare(Comparison.LESS, argument, Literal(low, argument.type)))
        parts.append(Compare(Comparison.GREATER, argument, Literal(high, argument.type)))
    outside = Or(tuple(parts))
    return outside if call.filter is None else conjunction((call.filter, outside))
