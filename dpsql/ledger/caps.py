"""Who may spend what: the caps of the dataset and of one analyst, decided without any SQL.

A charge is admitted if the amount spent so far (in units, each earlier charge rounded up) plus the
charge's exact loss is at most the exact cap. So a charge of exactly what is left passes even where
it is no whole number of units, and the sum of the true losses never passes the cap.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from dpsql.errors import BudgetSpent
from dpsql.ledger.amount import amount_of, format_amount, units
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

_SYMBOL = {
    Accounting.PURE: "ε",
    Accounting.APPROX: "ε",
    Accounting.ZCDP: "ρ",
    Accounting.GDP: "μ²",
}


class Spent(Struct, frozen=True):
    """What was charged to one account, in units, each charge rounded up: ε, ρ or μ², and δ."""

    spent: int = 0
    delta: int = 0

    def plus(self, loss: PrivacyLoss) -> Spent:
        """The account after `loss`."""
        return Spent(self.spent + units(loss.amount), self.delta + units(loss.delta))

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """The same amounts as a privacy loss."""
        return PrivacyLoss(accounting, amount_of(self.spent), amount_of(self.delta))


class Cap(Struct, frozen=True):
    """Exact upper bounds on an account: of ε, ρ or μ², and of δ; None is no bound."""

    amount: Fraction | None
    delta: Fraction | None

    def allows(self, spent: Spent, loss: PrivacyLoss) -> bool:
        """Whether an account at `spent` may be charged `loss`. A loss without δ needs no δ."""
        return (self.amount is None or amount_of(spent.spent) + loss.amount <= self.amount) and (
            self.delta is None
            or not loss.delta
            or amount_of(spent.delta) + loss.delta <= self.delta
        )

    def hard_limit(self, before: Spent) -> tuple[int | None, int | None]:
        """Limits in whole units, for SQL's own CHECK, that no admitted charge passes; None is none.

        `before` is the account before the charge. A cap may have been lowered below that; the limit
        is then `before` itself.
        """
        return (
            None if self.amount is None else max(units(self.amount), before.spent),
            None if self.delta is None else max(units(self.delta), before.delta),
        )


class Balance(Struct, frozen=True):
    """What was spent and what is left of a budget, as exact amounts; None where there is no cap.

    An analyst's own cap bounds ε, ρ or μ² only; δ has only the dataset's cap. An analyst can spend
    the smaller of their own `left` and the dataset's.
    """

    spent: PrivacyLoss
    cap: Fraction | None
    delta_cap: Fraction | None
    left: Fraction | None
    delta_left: Fraction | None


Balances: TypeAlias = tuple[Balance, Balance]
"""The dataset's balance, and that of an analyst."""


def balance(
    paid: Spent, accounting: Accounting, cap: Fraction | None, delta: Fraction | None
) -> Balance:
    """The balance of an account at `paid` under its caps; of a cap below `paid`, 0 is left."""
    spent = paid.loss(accounting)
    return Balance(
        spent,
        cap,
        delta,
        None if cap is None else _left(cap, paid.spent),
        None if delta is None else _left(delta, paid.delta),
    )


def balances(
    dataset: Spent, cap: PrivacyLoss, analyst: Spent, analyst_cap: Fraction | None
) -> Balances:
    """The balance of the dataset under its cap, and that of an analyst under theirs."""
    accounting = cap.accounting
    return (
        balance(dataset, accounting, cap.amount, cap.delta),
        balance(analyst, accounting, analyst_cap, None),
    )


def admit_charge(
    loss: PrivacyLoss,
    dataset: Spent,
    cap: PrivacyLoss,
    analyst: Spent,
    analyst_cap: Fraction | None,
) -> None:
    """Raises BudgetSpent unless both accounts may be charged `loss`: the dataset's, the analyst's.

    `cap` is the dataset's. The message says what is left of each.
    """
    own = Cap(analyst_cap, None)
    if Cap(cap.amount, cap.delta).allows(dataset, loss) and own.allows(analyst, loss):
        return
    symbol = _SYMBOL[loss.accounting]
    lines = [f"dataset {symbol} {format_amount(_left(cap.amount, dataset.spent))}"]
    if loss.delta:
        lines.append(f"dataset δ {format_amount(_left(cap.delta, dataset.delta))}")
    if analyst_cap is not None:
        lines.append(f"analyst {symbol} {format_amount(_left(analyst_cap, analyst.spent))}")
    raise BudgetSpent("not enough budget is left: " + ", ".join(lines))


def admit_view(loss: PrivacyLoss, analyst: Spent, analyst_cap: Fraction | None) -> None:
    """Raises BudgetSpent unless the analyst's account may be charged `loss`.

    `loss` is that of other analysts' releases which this one sees for the first time. The dataset
    paid when they were released, and doesn't pay again; `analyst_cap` bounds all that this analyst
    has seen.
    """
    if analyst_cap is not None and not Cap(analyst_cap, None).allows(analyst, loss):
        symbol = _SYMBOL[loss.accounting]
        left = format_amount(_left(analyst_cap, analyst.spent))
        raise BudgetSpent(f"not enough budget is left: analyst {symbol} {left}")


def _left(cap: Fraction, spent: int) -> Fraction:
    return max(Fraction(0), cap - amount_of(spent))
