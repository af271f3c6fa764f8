"""From the ε of a query and the budget of a schema to losses in the ledger's currency."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpsql.errors import BadParameter
from dpsql.ledger.amount import SMALLEST_DELTA
from dpsql.ledger.terms import LedgerTerms
from dpsql.privacy.accounting.gdp_conversion import epsilon_of_mu_squared, mu_squared_of_epsilon
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import epsilon_of_rho, rho_of_epsilon
from dpsql.privacy.directed_rounding import round_down
from dpsql.schema.budget import GDP_SELECTION, Budget, PerQuery
from dpsql.schema.model import Schema

MIN_EPSILON = Fraction(1, 1_000_000)
MAX_DIGITS = 50

_LARGEST = Fraction(10**9)
_DELTA_DIGITS = 12


def conversion_delta(budget: Budget) -> Fraction:
    """The part of δ that turns ρ or μ² into ε; the rest is for partition selection.

    Half of it under zcdp, nine tenths under gdp: noise is 2.7 % less for it, and a threshold, whose
    δ is a fifth, no more than some percent higher (docs/ledger.md has both).
    """
    match budget.accounting:
        case Accounting.PURE | Accounting.APPROX:
            return Fraction(0)
        case Accounting.ZCDP:
            return budget.delta / 2
        case Accounting.GDP:
            return budget.delta * (1 - GDP_SELECTION)
        case missing:
            assert_never(missing)


def ledger_terms(schema: Schema) -> LedgerTerms:
    """What the schema promises of its dataset, as a ledger keeps it."""
    budget = schema.budget
    return LedgerTerms(
        schema.ledger_name,
        schema.relation,
        budget.accounting,
        _cap(budget),
        conversion_delta(budget),
        schema.policy_hash,
        schema.policy,
    )


@lru_cache(maxsize=16)
def _cap(budget: Budget) -> PrivacyLoss:
    """What a ledger may spend in all."""
    converted = conversion_delta(budget)
    match budget.accounting:
        case Accounting.PURE | Accounting.APPROX:
            return PrivacyLoss(budget.accounting, budget.epsilon, budget.delta)
        case Accounting.ZCDP:
            rho = _rounded_down(rho_of_epsilon(budget.epsilon, converted))
            return PrivacyLoss(Accounting.ZCDP, rho, budget.delta - converted)
        case Accounting.GDP:
            mu_squared = _rounded_down(mu_squared_of_epsilon(budget.epsilon, converted))
            return PrivacyLoss(Accounting.GDP, mu_squared, budget.delta - converted)
        case missing:
            assert_never(missing)


def _rounded_down(amount: Fraction) -> Fraction:
    """`amount` to 12 digits: a ledger compares caps exactly, over all versions of this program."""
    digits = 12
    while amount * 10**digits < 10**11:
        digits += 1
    return Fraction(int(amount * 10**digits), 10**digits)


def query_loss(schema: Schema, epsilon: Fraction) -> PrivacyLoss:
    """What a query that asks for `epsilon` may spend: asked alone, it is (epsilon, δ)-DP."""
    return _query_loss(schema.budget, schema.per_query, epsilon)


@lru_cache(maxsize=64)
def _query_loss(budget: Budget, per_query: PerQuery, epsilon: Fraction) -> PrivacyLoss:
    # Every new text asks, mostly for one ε.
    max_epsilon = per_query.max_epsilon
    if not MIN_EPSILON <= epsilon <= max_epsilon:
        raise BadParameter(
            f"epsilon = {float(max(-_LARGEST, min(_LARGEST, epsilon))):g} is out of range",
            hint=f"ask for an epsilon from {float(MIN_EPSILON):g} to {float(max_epsilon):g}",
        )
    amount = _in_ledger_currency(budget, epsilon)
    return PrivacyLoss(budget.accounting, amount, _query_delta(budget, per_query, amount))


def query_delta(schema: Schema, amount: Fraction) -> Fraction:
    """The δ that a query may spend which loses `amount`, in the ledger's currency."""
    return _query_delta(schema.budget, schema.per_query, amount)


def _query_delta(budget: Budget, per_query: PerQuery, amount: Fraction) -> Fraction:
    cap = _cap(budget)
    if not per_query.is_delta_shared:
        return per_query.delta
    return min(per_query.delta, round_down(cap.delta * amount / cap.amount, _DELTA_DIGITS))


def check_delta_shares(losses: Iterable[PrivacyLoss]) -> None:
    """Refuse a part of δ that is less than what a ledger counts in.

    δ is shared among queries as ε is, and then among a statement's releases.
    """
    share = min((loss.delta for loss in losses if loss.delta), default=SMALLEST_DELTA)
    if share < SMALLEST_DELTA:
        raise BadParameter(
            f"the statement's share of delta is {float(share):.2g} for a choice of groups, below"
            f" the least that is counted, {float(SMALLEST_DELTA):g}",
            hint="ask with a higher epsilon, or less in one statement; the owner can raise"
            " per_query: {delta: …}",
        )


def to_ledger_currency(schema: Schema, epsilon: Fraction) -> Fraction:
    """ε itself, or the largest ρ or μ² whose tight conversion gives it.

    No more than the budget's own, which is rounded down: who asks for all of it may have it.
    """
    return _in_ledger_currency(schema.budget, epsilon)


def _in_ledger_currency(budget: Budget, epsilon: Fraction) -> Fraction:
    match budget.accounting:
        case Accounting.PURE | Accounting.APPROX:
            return epsilon
        case Accounting.ZCDP:
            amount = rho_of_epsilon(epsilon, conversion_delta(budget))
        case Accounting.GDP:
            amount = mu_squared_of_epsilon(epsilon, conversion_delta(budget))
        case missing:
            assert_never(missing)
    return min(amount, _cap(budget).amount) if epsilon <= budget.epsilon else amount


def analyst_cap(schema: Schema, analyst: str) -> Fraction | None:
    """What all that `analyst` sees may cost, in the ledger's currency; None: nothing bounds it."""
    epsilon = schema.analysts.get(analyst)
    return None if epsilon is None else to_ledger_currency(schema, epsilon)


def epsilon_or_zero(schema: Schema, loss: PrivacyLoss | None) -> Fraction:
    """`loss` as ε; None is nothing."""
    return Fraction(0) if loss is None else epsilon_of(schema, loss.amount)


def epsilon_of(schema: Schema, spent: Fraction) -> Fraction:
    """An amount of the ledger's as ε, for people."""
    return epsilon_under(schema.budget.accounting, spent, conversion_delta(schema.budget))


def epsilon_under(accounting: Accounting, spent: Fraction, delta: Fraction) -> Fraction:
    """What was `spent` under `accounting`, as ε: that of ρ and μ² is the one at `delta`."""
    match accounting:
        case Accounting.PURE | Accounting.APPROX:
            return spent
        case Accounting.ZCDP:
            return epsilon_of_rho(spent, delta)
        case Accounting.GDP:
            return epsilon_of_mu_squared(spent, delta)
        case missing:
            assert_never(missing)


def parse_epsilon(value: object) -> Fraction:
    """A number or its text as an exact ε; NaN, infinities and other things are refused."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float | str) and len(text := str(value)) <= MAX_DIGITS:
        with suppress(ValueError, ZeroDivisionError, InvalidOperation):
            # 1e999999999 is a short text, and a number that takes minutes to write down.
            if "/" in text or abs(Decimal(text).adjusted()) <= MAX_DIGITS:
                return Fraction(text)
    what = f"a number of at most {MAX_DIGITS} digits"
    raise BadParameter(f"epsilon is {repr(value)[:40]}, not {what}", hint="write epsilon = 0.1")
