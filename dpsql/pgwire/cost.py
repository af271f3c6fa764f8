"""What an answer cost and what is left, in a line."""

from __future__ import annotations

from decimal import Decimal

from dpsql.dbapi.budget import Budget
from dpsql.session.answer import Privacy


def cost(privacy: Privacy, budget: Budget) -> str:
    """One line for the notice beside an answer."""
    if privacy.stored:
        paid = "nothing to the dataset, answered before"
    elif privacy.loss is None:
        paid = "nothing, no private table was read"
    else:
        paid = f"epsilon = {float(privacy.epsilon):.4g}"
        if privacy.loss.delta:
            paid += f", delta = {float(privacy.loss.delta):.2g}"
    of_all, own = budget.dataset, budget.own
    left = f"epsilon = {_digits(of_all.epsilon_left)} of {_digits(of_all.epsilon_cap)}"
    if own.epsilon_left is not None:
        left += f" ({_digits(own.epsilon_left)} of {_digits(own.epsilon_cap)} for {budget.analyst})"
    return f"cost: {paid}; left: {left}"


def _digits(value: Decimal | None) -> str:
    return "none" if value is None else f"{float(value):.4g}"
