"""An answer's cost, and the remaining budget, in words."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpsql.report.budget import Budget, with_delta
from dpsql.session.answer.answer import Cost
from dpsql.session.batch.batch import Batch


def paid(of_answer: Cost) -> str:
    """An answer's cost, without the remaining budget."""
    if of_answer.stored and of_answer.summed:
        return f"nothing to the dataset, {summed(of_answer)}"
    if of_answer.stored:
        return "nothing to the dataset, answered before"
    if of_answer.loss is None:
        return "nothing, no private table was read"
    return amounts(of_answer.epsilon, of_answer.loss.delta)


def amounts(epsilon: Fraction, delta: Fraction) -> str:
    """A loss in words."""
    text = f"epsilon = {float(epsilon):.4g}"
    return f"{text}, delta = {float(delta):.2g}" if delta else text


def summed(of_answer: Cost) -> str:
    """How an answer was summed from a stored one, and by what it differs from a new answer."""
    cells = f"up to {of_answer.summed} noisy cells a value"
    return f"summed from a stored answer ({cells}, limits as in its groups)"


def cost(of_answer: Cost, budget: Budget) -> str:
    """An answer's cost and the remaining budget, in one line."""
    return f"cost: {paid(of_answer)}; {_left(budget)}"


def cost_of_batch(batch: Batch, budget: Budget) -> str:
    """A batch's cost, the sum of its answers' costs one by one, and the remaining budget."""
    if batch.loss is None or batch.one_by_one is None:
        return f"cost: nothing to the dataset, answered before; {_left(budget)}"
    for_all = amounts(batch.epsilon, batch.loss.delta)
    one_by_one = amounts(batch.epsilon_one_by_one, batch.one_by_one.delta)
    return f"cost: {for_all} for all, one by one {one_by_one}; {_left(budget)}"


def _left(budget: Budget) -> str:
    of_all, own = budget.dataset, budget.own
    left = f"epsilon = {digits(of_all.epsilon_left)} of {digits(of_all.epsilon_cap)}"
    if own.epsilon_left is not None:
        left += f" ({digits(own.epsilon_left)} of {digits(own.epsilon_cap)} for {budget.analyst})"
    return f"left: {left}, {more(budget)}"


def more(budget: Budget) -> str:
    """How many queries at the default ε are left."""
    return f"{budget.queries_left} more at epsilon = {float(budget.epsilon):g}{with_delta(budget)}"


def digits(number: Decimal | None) -> str:
    """An amount with six digits; None is no limit."""
    return "no limit" if number is None else f"{float(number):g}"
