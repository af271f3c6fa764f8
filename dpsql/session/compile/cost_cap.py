"""The most that a statement may cost, as its analyst, and whoever lends out the session, set it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

from dpsql.errors import OverTarget
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import (
    MIN_EPSILON,
    epsilon_of,
    epsilon_or_zero,
    to_ledger_currency,
)
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


def check_batch_cost(
    together: PrivacyLoss,
    alone: Sequence[PrivacyLoss | None],
    price: PriceOptions,
    schema: Schema,
) -> None:
    """Refuse a batch whose statements cost too much: all `together`, or one of them `alone`.

    None is of a statement that costs nothing.
    """
    for number, loss in enumerate(alone, 1):
        cost = epsilon_or_zero(schema, loss)
        if price.ceiling is not None and cost > price.ceiling:
            error = OverTarget(
                f"statement {number} costs epsilon = {float(cost):.6g}, and no more than"
                f" {_rounded_down(price.ceiling)} may be spent on each here",
                hint=_cheaper(alone, price, schema),
            )
            error.statement = number
            raise error
    cost, highest = epsilon_of(schema, together.amount), price.batch_cap
    text = f"the statements cost epsilon = {float(cost):.6g} together"
    if highest is not None and cost > highest:
        raise OverTarget(
            f"{text}, and no more than {_rounded_down(highest)} may be spent on them here",
            hint=_cheaper(alone, price, schema),
        )
    if price.max_cost is not None and cost > price.max_cost:
        raise OverTarget(
            f"{text}, above dpsql.max_cost",
            hint=f"{_cheaper(alone, price, schema)}, or SET dpsql.max_cost = DEFAULT",
        )


def _cheaper(alone: Sequence[PrivacyLoss | None], price: PriceOptions, schema: Schema) -> str:
    """The ε of each statement with which all of them are allowed: one by one they cost the most."""
    count = sum(loss is not None for loss in alone)
    caps = [cap for cap in (price.max_cost, price.batch_cap) if cap is not None]
    shares = [
        epsilon_of(schema, to_ledger_currency(schema, cap) / count) if cap else cap for cap in caps
    ]
    epsilon = min(shares if price.ceiling is None else [*shares, price.ceiling])
    if epsilon < MIN_EPSILON:
        return "ask for fewer: what was answered before is still free"
    return f"SET dpsql.epsilon = {_rounded_down(epsilon)}"


def _rounded_down(epsilon: Fraction) -> str:
    """Of ε six digits, and never more than it."""
    numerator = Decimal(epsilon.numerator)
    digits = Context(prec=6, rounding=ROUND_DOWN).divide(numerator, Decimal(epsilon.denominator))
    return f"{float(digits):g}"
