"""What an answer cost, and what is left, in one line."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpsql.dbapi.budget import Budget
from dpsql.session.answer import Privacy
from dpsql.session.batch import Batch


def cost(privacy: Privacy, budget: Budget) -> str:
    """What an answer cost, and what is left, in one line."""
    if privacy.stored and privacy.summed:
        paid = f"nothing to the dataset, {summed(privacy)}"
    elif privacy.stored:
        paid = "nothing to the dataset, answered before"
    elif privacy.loss is None:
        paid = "nothing, no private table was read"
    else:
        paid = _amounts(privacy.epsilon, privacy.loss.delta)
    return f"cost: {paid}; {_left(budget)}"


def cost_of_batch(batch: Batch, budget: Budget) -> str:
    """What all answers of a batch cost together, and would have cost apart, in one line."""
    if batch.loss is None or batch.apart is None:
        return f"cost: nothing to the dataset, answered before; {_left(budget)}"
    paid = _amounts(batch.loss.amount, batch.loss.delta)
    one_by_one = _amounts(batch.apart.amount, batch.apart.delta)
    return f"cost: {paid} for all, one by one {one_by_one}; {_left(budget)}"


def _amounts(epsilon: Fraction, delta: Fraction) -> str:
    found = f"epsilon = {float(epsilon):.4g}"
    return f"{found}, delta = {float(delta):.2g}" if delta else found


def _left(budget: Budget) -> str:
    of_all, own = budget.dataset, budget.own
    left = f"epsilon = {digits(of_all.epsilon_left)} of {digits(of_all.epsilon_cap)}"
    if own.epsilon_left is not None:
        left += f" ({digits(own.epsilon_left)} of {digits(own.epsilon_cap)} for {budget.analyst})"
    return f"left: {left}"


def summed(privacy: Privacy) -> str:
    """How an answer came about that wasn't given before, and what is different about it."""
    cells = f"up to {privacy.summed} noisy cells a value"
    return f"summed from a stored answer ({cells}, limits as in its groups)"


def digits(number: Decimal | None) -> str:
    """Six digits of an amount."""
    return "no limit" if number is None else f"{float(number):g}"
