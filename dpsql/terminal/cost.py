"""What an answer cost, and what is left, in one line."""

from __future__ import annotations

from decimal import Decimal

from dpsql.dbapi.budget import Budget
from dpsql.dbapi.paid import amounts, paid
from dpsql.session.answer import Privacy
from dpsql.session.batch import Batch


def cost(privacy: Privacy, budget: Budget) -> str:
    """What an answer cost, and what is left, in one line."""
    return f"cost: {paid(privacy)}; {_left(budget)}"


def cost_of_batch(batch: Batch, budget: Budget) -> str:
    """What all answers of a batch cost together, and would have cost apart, in one line."""
    if batch.loss is None or batch.apart is None:
        return f"cost: nothing to the dataset, answered before; {_left(budget)}"
    for_all = amounts(batch.loss.amount, batch.loss.delta)
    one_by_one = amounts(batch.apart.amount, batch.apart.delta)
    return f"cost: {for_all} for all, one by one {one_by_one}; {_left(budget)}"


def _left(budget: Budget) -> str:
    of_all, own = budget.dataset, budget.own
    left = f"epsilon = {digits(of_all.epsilon_left)} of {digits(of_all.epsilon_cap)}"
    if own.epsilon_left is not None:
        left += f" ({digits(own.epsilon_left)} of {digits(own.epsilon_cap)} for {budget.analyst})"
    return f"left: {left}"


def digits(number: Decimal | None) -> str:
    """Six digits of an amount."""
    return "no limit" if number is None else f"{float(number):g}"
