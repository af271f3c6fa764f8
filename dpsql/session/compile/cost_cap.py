"""The most that a statement may cost, as its analyst, and whoever lends out the session, set it."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

from dpsql.errors import OverTarget
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import MIN_EPSILON, epsilon_of
from dpsql.session.options import PriceOptions


def meets_cost_cap(price: PriceOptions, epsilon: Fraction, schema: Schema) -> bool:
    """Nothing that is asked at `epsilon` costs more than is allowed, whatever its groups are.

    Only then is a table that the reader has a cap for opened while a statement is proved: a refusal
    for its cost would have been paid for.
    """
    highest = epsilon if price.max_error is None else schema.per_query.max_epsilon
    cap = price.cost_cap
    return cap is None or highest <= cap


def check_cost(loss: PrivacyLoss, price: PriceOptions, schema: Schema) -> None:
    """Refuse a `loss` above `max_cost` or the ceiling, as ε of the statements alone."""
    if price.cost_cap is None:
        return
    cost = epsilon_of(schema, loss.amount)
    max_cost, ceiling = price.max_cost, price.ceiling
    if ceiling is not None and cost > ceiling:
        raise OverTarget(
            f"the statement costs epsilon = {float(cost):.6g}, and no more than"
            f" {_rounded_down(ceiling)} may be spent on it here",
            hint="what was answered before is still free"
            if ceiling < MIN_EPSILON
            else f"SET dpsql.epsilon = {_rounded_down(ceiling)}",
        )
    if max_cost is not None and cost > max_cost:
        raise OverTarget(
            f"the statement costs epsilon = {float(cost):.6g}, above dpsql.max_cost",
            hint=f"SET dpsql.epsilon = {float(max_cost):g}, or SET dpsql.max_cost = DEFAULT",
        )


def _rounded_down(epsilon: Fraction) -> str:
    """Of ε six digits, and never more than it."""
    numerator = Decimal(epsilon.numerator)
    digits = Context(prec=6, rounding=ROUND_DOWN).divide(numerator, Decimal(epsilon.denominator))
    return f"{float(digits):g}"
