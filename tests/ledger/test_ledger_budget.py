"""What fits into a budget, and what a refusal says."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from ledger.ledger_world import PURE, TENTH, Place, charge, terms

from dpsql.errors import BudgetSpent
from dpsql.ledger.charge import Charge
from dpsql.ledger.ledger import Ledger
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

APPROX = Accounting.APPROX


def spent(ledger: Ledger) -> Fraction:
    return ledger.balance().spent.amount


def test_thirty_charges_of_a_tenth_are_three(place: Place) -> None:
    with place.open(terms(3)) as ledger:
        for number in range(30):
            ledger.charge(charge(number))
        assert spent(ledger) == 3
        assert ledger.balance().left == 0
        with pytest.raises(BudgetSpent):
            ledger.charge(charge("one more", Fraction(1, 10**18)))


def test_a_charge_of_the_whole_cap_passes_though_it_is_no_number_of_units(place: Place) -> None:
    with place.open(terms(Fraction(1, 3))) as ledger:
        ledger.charge(charge(1, Fraction(1, 3)))
        assert ledger.balance().left == 0


def test_a_charge_just_above_the_cap_is_refused(place: Place) -> None:
    with place.open(terms(Fraction(1, 3))) as ledger, pytest.raises(BudgetSpent):
        ledger.charge(charge(1, Fraction(1, 3) + Fraction(1, 10**40)))


def test_thirds_are_rounded_up(place: Place) -> None:
    with place.open(terms(1)) as ledger:
        ledger.charge(charge(1, Fraction(1, 3)))
        ledger.charge(charge(2, Fraction(1, 3)))
        assert Fraction(2, 3) < spent(ledger) < Fraction(2, 3) + Fraction(1, 10**23)
        with pytest.raises(BudgetSpent):
            ledger.charge(charge(3, Fraction(1, 3)))


def test_a_refused_charge_leaves_no_trace(place: Place) -> None:
    with place.open(terms(1)) as ledger:
        before = list(ledger.history())
        with pytest.raises(BudgetSpent):
            ledger.charge(charge(1, 2))
        assert list(ledger.history()) == before
        assert ledger.charge(charge(1, 1)).fresh


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (charge(9, 6), "not enough budget is left: dataset ε 5.9"),
        (charge(9, 1, own=1), "not enough budget is left: dataset ε 5.9, analyst ε 0.9"),
        (
            charge(9, 6, analyst="bob", own=7),
            "not enough budget is left: dataset ε 5.9, analyst ε 7",
        ),
    ],
)
def test_a_refusal_names_what_is_left_and_nothing_else(
    place: Place, asked: Charge, message: str
) -> None:
    with place.open(terms(6)) as ledger:
        ledger.charge(charge(1))
        with pytest.raises(BudgetSpent, match=f"^{re.escape(message)}$") as refusal:
            ledger.charge(asked)
    assert (refusal.value.sqlstate, refusal.value.detail, refusal.value.hint) == ("53400", "", "")


def test_a_zcdp_ledger_speaks_of_rho(place: Place) -> None:
    rho = terms(TENTH, Fraction(1, 10**6), Accounting.ZCDP, conversion=Fraction(1, 10**6))
    with place.open(rho) as ledger, pytest.raises(BudgetSpent, match=r"dataset ρ 0\.1, dataset δ"):
        ledger.charge(charge(1, 1, Fraction(1, 10**7), accounting=Accounting.ZCDP))


def test_delta_adds_up_beside_the_amount(place: Place) -> None:
    delta = Fraction(1, 10**6)
    with place.open(terms(10, 3 * delta, APPROX)) as ledger:
        for number in range(3):
            ledger.charge(charge(number, TENTH, delta, accounting=APPROX))
        assert ledger.balance().delta_left == 0
        with pytest.raises(BudgetSpent, match=r"dataset ε 9\.7, dataset δ 0$"):
            ledger.charge(charge(4, TENTH, Fraction(1, 10**20), accounting=APPROX))


def test_when_delta_is_spent_charges_without_it_go_on(place: Place) -> None:
    with place.open(terms(10, Fraction(1, 10**6), APPROX)) as ledger:
        ledger.charge(charge(1, TENTH, Fraction(1, 10**6), accounting=APPROX))
        assert ledger.charge(charge(2, accounting=APPROX)).fresh


def test_all_analysts_together_stay_below_the_datasets_cap(place: Place) -> None:
    with place.open(terms(1)) as ledger:
        for number in range(10):
            ledger.charge(charge(number, analyst=f"sybil {number}", own=1))
        with pytest.raises(BudgetSpent):
            ledger.charge(charge(10, analyst="sybil 10", own=1))
        assert spent(ledger) == 1


def test_an_analysts_cap_binds_that_analyst_alone(place: Place) -> None:
    with place.open() as ledger:
        ledger.charge(charge(1, TENTH, own=TENTH))
        with pytest.raises(BudgetSpent):
            ledger.charge(charge(2, own=TENTH))
        assert ledger.charge(charge(3, analyst="bob", own=TENTH)).fresh
        assert ledger.balance("alice", TENTH).left == 0
        both = ledger.balance(), ledger.balance("alice", TENTH)
        assert ledger.balances("alice", TENTH) == both
        assert ledger.balance("bob").spent == PrivacyLoss(PURE, TENTH)
        assert ledger.balance("carol").spent == PrivacyLoss(PURE, Fraction(0))


def test_an_analysts_cap_may_fall_below_what_they_spent(place: Place) -> None:
    with place.open() as ledger:
        ledger.charge(charge(1, 2))
        with pytest.raises(BudgetSpent, match=r"analyst ε 0$"):
            ledger.charge(charge(2, own=1))
        assert ledger.charge(charge(3, own=3)).fresh
