"""The fraction of values that lie below a quantile, as a statement writes it."""

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
    """The fraction from 0 to 1 that `node` writes, of the values below the quantile.

    `descending`: the statement counts from the greatest value down. Raises Refused if `node` isn't
    a constant from 0 to 1.
    """
    bound = None if isinstance(node, exp.Array) else binder.bind(node)
    if isinstance(bound, Literal) and isinstance(bound.value, int | Fraction):
        # A parameter is a double: 0.9 is meant, not the binary fraction next to it.
        is_double = isinstance(bound.type, Double)
        fraction = Fraction(str(float(bound.value)) if is_double else bound.value)
        if 0 <= fraction <= 1:
            return 1 - fraction if descending else fraction
    raise Refused(
        "a quantile's place is one number from 0 to 1",
        at=at,
        hint="quantile_cont(x, 0.9), with a column of its own for each place",
        note="aggregate_quantile",
    )
