"""Where in the order of its values a quantile is."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.errors import Refused, Span
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Double


def fraction_of(
    node: exp.Expr, binder: ExpressionBinder, at: Span | None, *, descending: bool
) -> Fraction:
    """The place that `node` is, from 0 to 1, counted from below; Refused if it is no constant."""
    place = None if isinstance(node, exp.Array) else binder.bind(node)
    if isinstance(place, Literal) and isinstance(place.value, int | Fraction):
        # A parameter is a double: 0.9 is meant, not the binary fraction next to it.
        is_double = isinstance(place.type, Double)
        found = Fraction(str(float(place.value)) if is_double else place.value)
        if 0 <= found <= 1:
            return 1 - found if descending else found
    raise Refused(
        "a quantile's place is one number from 0 to 1",
        at=at,
        hint="quantile_cont(x, 0.9), with a column of its own for each place",
        note="aggregate_quantile",
    )
