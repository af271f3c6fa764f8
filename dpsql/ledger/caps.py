"""Who may spend what: the caps of the dataset and of one analyst, decided without any SQL.

A charge is admitted if what was spent, in units rounded up, plus the charge itself, exactly, is
within the exact cap. So a charge of exactly what is left passes even where it is no whole number of
units, and the sum of the true losses never passes the cap.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import BudgetSpent
from dpsql.ledger.amount import amount_of, format_amount, units
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

_SYMBOL = {Accounting.PURE: "ε", Accounting.APPROX: "ε", Accounting.ZCDP: "ρ"}


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent from one budget, in units, each charge rounded up."""

    spent: int = 0
    delta: int = 0

    def plus(self, loss: PrivacyLoss) -> Spent:
        """The account after `loss`."""
        return Spent(self.spent + units(loss.amount), self.delta + units(loss.delta))

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """What was spent as a loss."""
        return PrivacyLoss(accounting, amount_of(self.spent), amount_of(self.delta))


@dataclass(frozen=True, slots=True)
class Cap:
    """Exact upper bounds on an account; None bounds nothing."""

    amount: Fraction | None
    delta: Fraction | None

    def allows(self, spent: Spent, loss: PrivacyLoss) -> bool:
        """`loss` still fits. A loss without δ fits however little δ is left."""
        return (self.amount is None or amount_of(spent.spent) + loss.amount <= self.amount) and (
            self.delta is None
            or not loss.delta
            or amount_of(spent.delta) + loss.delta <= self.delta
        )

    def hard_limit(self, before: Spent) -> tuple[int | None, int | None]:
        """Whole units that no admitted charge passes: what SQL itself checks.

        A cap may have been lowered below what was spent; the account then stays where it is.
        """
        return (
            None if self.amount is None else max(units(self.amount), before.spent),
            None if self.delta is None else max(units(self.delta), before.delta),
        )


@dataclass(frozen=True, slots=True)
class Balance:
    """What was spent and what is left of a budget, as amounts; None where there is no cap.

    An analyst's own cap bounds amounts only; δ is the dataset's. What one analyst can spend is the
    lesser of their own left and the dataset's.
    """

    spent: PrivacyLoss
    cap: Fraction | None
    delta_cap: Fraction | None
    left: Fraction | None
    delta_left: Fraction | None


def balance(
    paid: Spent, accounting: Accounting, cap: Fraction | None, delta: Fraction | None
) -> Balance:
    """The balance of `paid` under its caps; nothing is left of a cap below what was spent."""
    spent = paid.loss(accounting)
    return Balance(
        spent,
        cap,
        delta,
        None if cap is None else _left(cap, paid.spent),
        None if delta is None else _left(delta, paid.delta),
    )


def admit_charge(
    loss: PrivacyLoss, dataset: Spent, cap: PrivacyLoss, analyst: Spent, own: Fraction | None
) -> None:
    """Refuses `loss` unless both the dataset's and the analyst's budget hold it."""
    if Cap(cap.amount, cap.delta).allows(dataset, loss) and Cap(own, None).allows(analyst, loss):
        return
    symbol = _SYMBOL[loss.accounting]
    lines = [f"dataset {symbol} {format_amount(_left(cap.amount, dataset.spent))}"]
    if loss.delta:
        lines.append(f"dataset δ {format_amount(_left(cap.delta, dataset.delta))}")
    if own is not None:
        lines.append(f"analyst {symbol} {format_amount(_left(own, analyst.spent))}")
    raise BudgetSpent("not enough budget is left: " + ", ".join(lines))


def admit_view(loss: PrivacyLoss, analyst: Spent, own: Fraction | None) -> None:
    """Refuses a first look at other analysts' releases unless the reader's own budget holds it.

    The dataset's budget paid when they were released; seeing them again changes nothing there. But
    what `own` promises is a bound on all that this analyst has seen.
    """
    if own is not None and not Cap(own, None).allows(analyst, loss):
        symbol = _SYMBOL[loss.accounting]
        left = format_amount(_left(own, analyst.spent))
        raise BudgetSpent(f"not enough budget is left: analyst {symbol} {left}")


def _left(cap: Fraction, spent: int) -> Fraction:
    return max(Fraction(0), cap - amount_of(spent))
