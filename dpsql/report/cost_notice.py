"""An answer's cost and the remaining budget, as the notice of a PostgreSQL client."""

from __future__ import annotations

from decimal import Decimal

from dpsql.report.budget import Budget
from dpsql.report.cost import more, paid
from dpsql.session.answer.answer import Cost


def cost(of_answer: Cost, budget: Budget) -> str:
    """The line of the notice that comes with an answer."""
    of_all, own = budget.dataset, budget.own
    left = f"epsilon = {_digits(of_all.epsilon_left)} of {_digits(of_all.epsilon_cap)}"
    if own.epsilon_left is not None:
        left += f" ({_digits(own.epsilon_left)} of {_digits(own.epsilon_cap)} for {budget.analyst})"
    return f"cost: {paid(of_answer)}; left: {left}, {more(budget)}"


def _digits(value: Decimal | None) -> str:
    return "none" if value is None else f"{float(value):.4g}"
