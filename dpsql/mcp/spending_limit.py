"""The limits of what the server may spend, which no request of a client can loosen."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from typing import Final

from dpsql.mcp.options import Options
from dpsql.mcp.tool_results import BudgetReply, Left, Spending
from dpsql.report.budget import ADDS_UP_AS, Allowance, Budget, read_budget
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import epsilon_of, parse_epsilon, to_ledger_currency
from dpsql.session.session import Session

_ROUNDED: Final = 1 + Fraction(1, 10**9)
"""Tolerance for an approved price, which was sent to the client as a float."""

_ADDS_UP: Final = "a statement's epsilon is subtracted from what is left"
_ADDS_UP_OTHERWISE: Final = (
    "losses add up as {unit}: spent is the epsilon of all statements together, left that of one"
    " last statement, and the two add up to more than the cap"
)

USUAL_PART: Final = 5
"""Without --max-total, the server may spend this part of the budget left at its start: a fifth."""


def default_epsilon(options: Options, schema: Schema) -> Fraction:
    """What a query spends if nothing is said: by default no more than one may cost."""
    if options.epsilon is not None:
        return parse_epsilon(options.epsilon)
    epsilon, max_cost = schema.per_query.epsilon, options.max_cost
    return epsilon if max_cost is None else min(epsilon, parse_epsilon(max_cost))


def spending_limit_of(options: Options, session: Session) -> SpendingLimit:
    """The limits in `options`, for a `session` whose queries spend `default_epsilon`."""
    schema, epsilon = session.schema, session.default_epsilon
    return SpendingLimit(options, schema, epsilon, read_budget(schema, session.analyst, epsilon))


class SpendingLimit:
    """Two limits in ε: of each statement, and of all statements until the server ends.

    Losses add up in the ledger's currency (ε or ρ), as in the ledger.
    """

    def __init__(self, options: Options, schema: Schema, epsilon: Fraction, budget: Budget) -> None:
        self._schema = schema
        self._ask_above = None if options.ask_above is None else parse_epsilon(options.ask_above)
        cost, total = options.max_cost, options.max_total
        self._max_cost = epsilon if cost is None else parse_epsilon(cost)
        if total is None:
            self._total = _usual_total(budget, schema, self._max_cost)
        else:
            self._total = parse_epsilon(total)
        self._spent = Fraction(0)

    def ceiling(self) -> Fraction:
        """The largest ε that the next statement may cost."""
        return min(self._max_cost, self.batch_ceiling())

    def batch_ceiling(self) -> Fraction:
        """The largest ε that the statements of a batch may cost together."""
        if not self._spent:
            return self._total
        left = self._amount(self._total) - self._spent
        return epsilon_of(self._schema, left) if left > 0 else Fraction(0)

    def agreed_ceiling(self, ceiling: Fraction, agreed: Fraction | None) -> Fraction:
        """The largest ε that the next call may cost, if a human has `agreed` to so much ε.

        `ceiling` is what the limits allow. None: no human was asked, so that the call may cost
        `ask_above` at most.
        """
        if self._ask_above is None:
            return ceiling
        return min(ceiling, self._ask_above if agreed is None else agreed * _ROUNDED)

    @property
    def asks_humans(self) -> bool:
        """Whether there is a price above which a human has to approve a call."""
        return self._ask_above is not None

    def asks(self, cost: Fraction, ceiling: Fraction) -> bool:
        """Whether a human has to approve the ε `cost`; not if the limits' `ceiling` forbids it."""
        return self._ask_above is not None and self._ask_above < cost <= ceiling

    def spend(self, loss: Fraction) -> None:
        """Note that `loss`, in the ledger's currency, was charged."""
        self._spent += loss

    def spend_up_to(self, loss: Fraction | None, ceiling: Fraction) -> None:
        """Note a charge of at most `loss` (None if unknown) and at most the ε `ceiling`."""
        max_loss = self._amount(ceiling)
        self._spent += max_loss if loss is None else max(Fraction(0), min(loss, max_loss))

    def queries_left(self, epsilon: Fraction) -> int:
        """How many queries of `epsilon` the limits leave room for."""
        if epsilon > self._max_cost:
            return 0
        return int(
            max(Fraction(0), self._amount(self._total) - self._spent) / self._amount(epsilon)
        )

    def status(self) -> Spending:
        """The limits in ε, and how much of them is left."""
        return Spending(
            rounded(self._max_cost),
            rounded(self._total),
            float(epsilon_of(self._schema, self._spent)),
            rounded(self.batch_ceiling()),
            None if self._ask_above is None else rounded(self._ask_above),
        )

    def _amount(self, epsilon: Fraction) -> Fraction:
        return to_ledger_currency(self._schema, epsilon) if epsilon else Fraction(0)


def budget_reply(budget: Budget, limit: SpendingLimit, epsilon: Fraction) -> BudgetReply:
    """The budgets of dataset, analyst and server, and how many queries of `epsilon` fit in all."""
    unit = ADDS_UP_AS[budget.accounting]
    return BudgetReply(
        budget.analyst,
        budget.accounting,
        float(epsilon),
        min(budget.queries_left, limit.queries_left(epsilon)),
        _left(budget.dataset),
        _left(budget.own),
        limit.status(),
        _ADDS_UP if unit == "epsilon" else _ADDS_UP_OTHERWISE.format(unit=unit),
    )


def _left(allowance: Allowance) -> Left:
    cap, left = allowance.epsilon_cap, allowance.epsilon_left
    return Left(
        None if cap is None else float(cap),
        float(allowance.epsilon_spent),
        None if left is None else float(left),
    )


def rounded(epsilon: Fraction) -> float:
    """`epsilon` rounded down to six digits."""
    number = Decimal(epsilon.numerator)
    return float(Context(prec=6, rounding=ROUND_DOWN).divide(number, Decimal(epsilon.denominator)))


def _usual_total(budget: Budget, schema: Schema, one: Fraction) -> Fraction:
    """A fifth of the remaining budget, and no less than one statement, if so much is left."""
    lefts = [budget.dataset.epsilon_left, budget.own.epsilon_left]
    left = min(Fraction(epsilon) for epsilon in lefts if epsilon is not None)
    if not left:
        return Fraction(0)
    return max(epsilon_of(schema, to_ledger_currency(schema, left) / USUAL_PART), min(one, left))
