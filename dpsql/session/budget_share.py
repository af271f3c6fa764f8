"""How much of what is left a statement would take."""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction

from dpsql.ledger.caps import Balance
from dpsql.ledger.ledger import Ledger
from dpsql.session.compile.compiled import CompiledStatement


def budget_fraction(
    compiled: CompiledStatement,
    ledger: Ledger,
    analyst: str,
    cap: Fraction | None,
    free: Container[str] = (),
) -> Fraction:
    """The part of the smaller of both allowances that `compiled` would take: 1 is all, or more.

    In the ledger's currency, where losses add up. What was answered before takes nothing, whoever
    asked: it tells an analyst what others have asked, where answers are shared. Nor do the releases
    named `free`.
    """
    stored = ledger.stored_answers([release.key for release in compiled.releases])
    due = {
        r.key: r.step.measurement.loss.amount
        for r in compiled.releases
        if r.name not in free and r.key not in stored
    }
    cost = sum(due.values(), Fraction(0))
    return part_of_left(cost, *ledger.balances(analyst, cap))


def part_of_left(cost: Fraction, *balances: Balance) -> Fraction:
    """The part of the smallest of `balances` that `cost` would take: 1 is all, or more."""
    left = min(balance.left for balance in balances if balance.left is not None)
    if not cost:
        return Fraction(0)
    return min(Fraction(1), cost / left) if left > 0 else Fraction(1)
