from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from ledger.ledger_world import PURE, TENTH, charge, terms
from msgspec.structs import force_setattr

from dpsql.errors import BadParameter
from dpsql.ledger.amount import UNITS, amount_of, format_amount, padded, units
from dpsql.ledger.charge import Charge, check_charge
from dpsql.ledger.terms import LedgerTerms, check_terms
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

BAD_AMOUNTS = [
    pytest.param(float("nan"), id="nan"),
    pytest.param(float("inf"), id="inf"),
    pytest.param(float("-inf"), id="minus inf"),
    pytest.param(0.1, id="float"),
    pytest.param(1, id="int"),
    pytest.param(True, id="bool"),
    pytest.param("1", id="text"),
    pytest.param(None, id="none"),
    pytest.param(Decimal(1), id="decimal"),
    pytest.param(1j, id="complex"),
    pytest.param(Fraction(0), id="zero"),
    pytest.param(Fraction(-1), id="negative"),
    pytest.param(Fraction(1, 10**400), id="1e-400"),
    pytest.param(Fraction(1, 10**18 + 1), id="tiny"),
    pytest.param(Fraction(10**6 + 1), id="huge"),
    pytest.param(Fraction(10**308), id="1e308"),
    pytest.param(Fraction(10**5000 + 1, 10**5000), id="5000 digits"),
]
BAD_DELTAS = [
    pytest.param(float("nan"), id="nan"),
    pytest.param(1e-6, id="float"),
    pytest.param(0, id="int"),
    pytest.param(None, id="none"),
    pytest.param(Fraction(-1, 10), id="negative"),
    pytest.param(Fraction(1), id="one"),
    pytest.param(Fraction(2), id="two"),
    pytest.param(Fraction(1, 10**25), id="tiny"),
    pytest.param(Fraction(10**5000 - 1, 10**5000), id="5000 digits"),
]


def unchecked(amount: object, delta: object = Fraction(0)) -> PrivacyLoss:
    """A loss that its own class would not always let through."""
    loss = PrivacyLoss(Accounting.APPROX, Fraction(1))
    force_setattr(loss, "amount", amount)
    force_setattr(loss, "delta", delta)
    return loss


def charge_of(loss: PrivacyLoss, own: object = None) -> Charge:
    good = charge(1, accounting=Accounting.APPROX)
    force_setattr(good, "loss", loss)
    force_setattr(good, "analyst_cap", own)
    return good


@pytest.mark.parametrize("amount", BAD_AMOUNTS)
def test_a_charge_of_a_bad_amount_is_refused(amount: object) -> None:
    with pytest.raises(BadParameter):
        check_charge(charge_of(unchecked(amount)), Accounting.APPROX)


@pytest.mark.parametrize("delta", BAD_DELTAS)
def test_a_charge_of_a_bad_delta_is_refused(delta: object) -> None:
    with pytest.raises(BadParameter):
        check_charge(charge_of(unchecked(Fraction(1), delta)), Accounting.APPROX)


@pytest.mark.parametrize("cap", [bad for bad in BAD_AMOUNTS if bad.id != "none"])
def test_a_bad_cap_of_an_analyst_is_refused(cap: object) -> None:
    with pytest.raises(BadParameter):
        check_charge(charge_of(unchecked(Fraction(1)), cap), Accounting.APPROX)


@pytest.mark.parametrize("amount", BAD_AMOUNTS)
def test_terms_of_a_bad_cap_are_refused(amount: object) -> None:
    bad = LedgerTerms("tpch", "add_remove", Accounting.APPROX, unchecked(amount), Fraction(0), "p")
    with pytest.raises(BadParameter):
        check_terms(bad)


@pytest.mark.parametrize(
    "bad",
    [
        charge(""),
        charge("x" * 201),
        charge("two\nlines"),
        charge("nul\0"),
        charge(1, request_hash=""),
        charge(1, analyst=""),
        charge(1, analyst="\ud800"),
        charge(1, query="\ud800"),
        charge(1, query="x" * (2 << 20)),
        charge(1, accounting=Accounting.ZCDP),
    ],
    ids=lambda bad: repr(bad)[:60],
)
def test_a_malformed_charge_is_refused(bad: Charge) -> None:
    with pytest.raises(BadParameter):
        check_charge(bad, PURE)


@pytest.mark.parametrize(
    "bad",
    [
        terms(dataset=""),
        terms(neighbors="bounded"),
        terms(policy=""),
        terms(conversion=Fraction(1, 10**6)),
        terms(accounting=Accounting.ZCDP),
        LedgerTerms("t", "add_remove", Accounting.ZCDP, PrivacyLoss(PURE, Fraction(1)), TENTH, "p"),
    ],
    ids=repr,
)
def test_terms_that_no_ledger_can_keep_are_refused(bad: LedgerTerms) -> None:
    with pytest.raises(BadParameter):
        check_terms(bad)


@pytest.mark.parametrize("amount", [Fraction(1, 3), Fraction(2, 10**25), Fraction(10**6), TENTH])
def test_units_round_up_by_less_than_one(amount: Fraction) -> None:
    assert amount <= amount_of(units(amount)) < amount + Fraction(1, UNITS)


def test_decimals_are_whole_units() -> None:
    assert units(TENTH) * 30 == units(Fraction(3))


def test_stored_text_is_ordered_as_numbers() -> None:
    counts = [0, 9, 10, 99, 10**24, 10**30, 2 * 10**30]
    assert sorted(map(padded, counts)) == [padded(count) for count in counts]


@pytest.mark.parametrize("count", [-1, 10**36])
def test_text_that_would_lose_its_order_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="no amount"):
        padded(count)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(3), "3"),
        (TENTH, "0.1"),
        (Fraction(2, 3), "0.666666"),
        (Fraction(29999999, 10**7), "2.99999"),
        (Fraction(1, 10**9), "0.000000001"),
        (Fraction(10**6), "1000000"),
    ],
)
def test_amounts_are_shown_rounded_down(amount: Fraction, text: str) -> None:
    assert format_amount(amount) == text
