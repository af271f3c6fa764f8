"""The condition by which dp_clipped(sum(x)) counts a row: bounds cut its value off."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.bounding.statistics.argument_grids import ArgumentGrids
from dpsql.bounding.statistics.discretization import missing_bounds_error
from dpsql.errors import Refused
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Compare, Comparison, Expression, Literal, Or, conjunction
from dpsql.schema.sql_type import Integer


def clipped(call: AggregateCall, grids: ArgumentGrids) -> Expression:
    """The condition of the rows where an argument of `call` is outside its bounds.

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
        ends = grids.ends(argument, call)
        if ends is None:
            raise missing_bounds_error(argument, grids.where(call.filter), call.at)
        low, high = ends
        if isinstance(argument.type, Integer):
            low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
        parts.append(Compare(Comparison.LESS, argument, Literal(low, argument.type)))
        parts.append(Compare(Comparison.GREATER, argument, Literal(high, argument.type)))
    outside = Or(tuple(parts))
    return outside if call.filter is None else conjunction((call.filter, outside))
