"""What an answer cost, and what is left, in one line."""

from __future__ import annotations

from decimal import Decimal

from dpsql.dbapi.budget import Budget
from dpsql.session.answer import Privacy


def cost(privacy: Privacy, budget: Budget) -> str:
    """What an answer cost, and what is left, in one line."""
    if privacy.stored and privacy.summed:
        paid = f"nothing to the dataset, {summed(privacy)}"
    elif privacy.stored:
        paid = "nothing to the dataset, answered before"
    elif privacy.loss is None:
        paid = "nothing, no private table was read"
    else:
        paid = f"epsilon = {float(privacy.epsilon):.4g}"
        if privacy.loss.delta:
            paid += f", delta = {float(privacy.loss.delta):.2g}"
    of_all, own = budget.dataset, budget.own
    left = f"epsilon = {digits(of_all.epsilon_left)} of {digits(of_all.epsilon_cap)}"
    if own.epsilon_left is not None:
        left += f" ({digits(own.epsilon_left)} of {digits(own.epsilon_cap)} for {budget.analyst})"
    return f"cost: {paid}; left: {left}"


def summed(privacy: Privacy) -> str:
    """How an answer came about that wasn't given before, and what is different about it."""
    cells = f"up to {privacy.summed} noisy cells a value"
    return f"summed from a stored answer ({cells}, limits as in its groups)"


def digits(number: Decimal | None) -> str:
    """Six digits of an amount."""
    return "no limit" if number is None else f"{float(number):g}"
