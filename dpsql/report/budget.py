"""The spent and the remaining budget in ε, of the dataset and of one analyst, as people read it."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final

import pyarrow as pa
from msgspec import Struct

from dpsql.ledger.caps import Balance, Spent, balance
from dpsql.privacy.accounting.loss import Accounting
from dpsql.report.result.result import Result
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import BIGINT, Double, Varchar
from dpsql.session.compile.loss_conversion import (
    conversion_delta,
    epsilon_of,
    epsilon_under,
    ledger_terms,
    query_delta,
    to_ledger_currency,
)
from dpsql.session.ledger_access import existing_ledger


class Allowance(Struct, frozen=True):
    """A cap, how much of it was spent, and how much is left; None where there is no cap.

    In a zcdp ledger losses add up as ρ, in a gdp ledger as μ². There, `epsilon_spent` is the ε of
    all queries so far taken together, and `epsilon_left` the ε of one last query that would take
    all that is left; the two add up to more than the cap. `spent` is in the ledger's currency,
    which `conversion_delta` turns into ε.
    """

    epsilon_cap: Decimal | None
    epsilon_left: Decimal | None
    delta_cap: Decimal | None
    delta_spent: Decimal
    delta_left: Decimal | None
    accounting: Accounting
    conversion_delta: Fraction
    spent: Fraction

    @property
    def epsilon_spent(self) -> Decimal:
        """Computed when it is asked for: what is told beside each answer has no part in it."""
        return _decimal(epsilon_under(self.accounting, self.spent, self.conversion_delta))


class Budget(Struct, frozen=True):
    """The dataset's allowance, which all analysts share, and that of `analyst` alone.

    `epsilon` is a query's default ε, and `queries_left` how many queries of that ε both allowances
    have left. δ is spent only where group keys are chosen by noisy counts, and in an approx ledger:
    there is δ left for `queries_with_delta_left` of them.
    """

    dataset: Allowance
    own: Allowance
    analyst: str
    accounting: str
    epsilon: Decimal
    queries_left: int
    queries_with_delta_left: int


def read_budget(schema: Schema, analyst: str, epsilon: Fraction) -> Budget:
    """The budget of `analyst` by the ledger of `schema`, which isn't created if there is none."""
    cap = schema.analysts.get(analyst)
    own_cap = None if cap is None else to_ledger_currency(schema, cap)
    with existing_ledger(schema) as ledger:
        if ledger is None:
            terms = ledger_terms(schema)
            of_all = balance(Spent(), terms.accounting, terms.cap.amount, terms.cap.delta)
            of_one = balance(Spent(), terms.accounting, own_cap, None)
        else:
            of_all, of_one = ledger.balance(), ledger.balance(analyst, own_cap)
    return budget_of(schema, analyst, epsilon, of_all, of_one)


def budget_of(
    schema: Schema, analyst: str, epsilon: Fraction, of_all: Balance, of_one: Balance
) -> Budget:
    """The budget with these balances of the dataset (`of_all`) and of the analyst (`of_one`)."""
    amount = to_ledger_currency(schema, epsilon)
    queries = int(min(left for left in (of_all.left, of_one.left) if left is not None) / amount)
    delta = query_delta(schema, amount)
    with_delta = int(of_all.delta_left / delta) if of_all.delta_left and delta else 0
    return Budget(
        _allowance(schema, of_all, schema.budget.epsilon),
        _allowance(schema, of_one, schema.analysts.get(analyst)),
        analyst,
        schema.budget.accounting.value,
        _decimal(epsilon),
        queries,
        min(queries, with_delta),
    )


def _allowance(schema: Schema, balance: Balance, cap: Fraction | None) -> Allowance:
    untouched = not balance.spent.amount
    left = None if balance.left is None else epsilon_of(schema, balance.left)
    return Allowance(
        None if cap is None else _decimal(cap),
        None if left is None or cap is None else _decimal(cap if untouched else left, ROUND_DOWN),
        None if balance.delta_cap is None else _decimal(balance.delta_cap),
        _decimal(balance.spent.delta),
        None if balance.delta_left is None else _decimal(balance.delta_left, ROUND_DOWN),
        schema.budget.accounting,
        conversion_delta(schema.budget),
        balance.spent.amount,
    )


def _decimal(value: Fraction, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    """`value` with six digits; rounded down where more would promise more than is left."""
    context = Context(prec=6, rounding=rounding)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)


ADDS_UP_AS: Final = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu squared"}
"""What losses are summed as in each accounting."""


def enough(budget: Budget) -> str:
    """How many queries are left, and why spent and left don't add up, where they don't."""
    queries = "1 query" if budget.queries_left == 1 else f"{budget.queries_left} queries"
    text = f"enough for {queries} at epsilon = {float(budget.epsilon):g}{with_delta(budget)}"
    unit = ADDS_UP_AS[budget.accounting]
    if unit == "epsilon":
        return text
    return f"{text} (losses add up as {unit}, so the epsilons above don't sum to the cap)"


def with_delta(budget: Budget) -> str:
    """How many of the queries that are left may spend δ, where not all may."""
    few = budget.queries_with_delta_left
    if budget.dataset.delta_cap is None or few >= budget.queries_left:
        return ""
    return f", {few} of them with a delta"


_AMOUNTS: Final = (
    "epsilon_cap",
    "epsilon_spent",
    "epsilon_left",
    "delta_cap",
    "delta_spent",
    "delta_left",
)
"""Of an allowance, as SHOW dpsql.budget has them."""


def budget_table(budget: Budget) -> Result:
    """The answer of SHOW dpsql.budget: a row for each allowance, NULL where there is no cap.

    `queries_left` is how many queries at the default ε both leave, `queries_with_delta_left` how
    many of them may spend δ; `adds_up_as` says what losses
    are summed as, since under zcdp and gdp the ε spent and left don't sum to the cap.
    """
    accounts = {"dataset": budget.dataset, f"analyst {budget.analyst}": budget.own}
    numbers = {
        name: [
            None if (number := getattr(account, name)) is None else float(number)
            for account in accounts.values()
        ]
        for name in _AMOUNTS
    }
    return Result(
        ("account", *numbers, "queries_left", "queries_with_delta_left", "adds_up_as"),
        (Varchar(), *(Double() for _ in numbers), BIGINT, BIGINT, Varchar()),
        pa.table(
            {"account": list(accounts)}
            | numbers
            | {
                "queries_left": [budget.queries_left] * 2,
                "queries_with_delta_left": [budget.queries_with_delta_left] * 2,
                "adds_up_as": [ADDS_UP_AS[budget.accounting]] * 2,
            }
        ),
    )
