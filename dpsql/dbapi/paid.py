"""What an answer cost, in words."""

from __future__ import annotations

from fractions import Fraction

from dpsql.session.answer import Privacy


def paid(privacy: Privacy) -> str:
    """What an answer cost, without what is left."""
    if privacy.stored and privacy.summed:
        return f"nothing to the dataset, {summed(privacy)}"
    if privacy.stored:
        return "nothing to the dataset, answered before"
    if privacy.loss is None:
        return "nothing, no private table was read"
    return amounts(privacy.epsilon, privacy.loss.delta)


def amounts(epsilon: Fraction, delta: Fraction) -> str:
    """A loss."""
    found = f"epsilon = {float(epsilon):.4g}"
    return f"{found}, delta = {float(delta):.2g}" if delta else found


def summed(privacy: Privacy) -> str:
    """How an answer came about that wasn't given before, and what is different about it."""
    cells = f"up to {privacy.summed} noisy cells a value"
    return f"summed from a stored answer ({cells}, limits as in its groups)"
