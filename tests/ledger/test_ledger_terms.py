from __future__ import annotations

from fractions import Fraction

import pytest
from ledger.ledger_world import TENTH, Place, charge, terms

from dpsql.errors import BudgetSpent, LedgerFault
from dpsql.ledger.chain.entry import Amended, Tightened
from dpsql.ledger.terms import LedgerTerms
from dpsql.privacy.accounting.loss import Accounting

ZCDP = Accounting.ZCDP
MILLIONTH = Fraction(1, 10**6)
RHO = terms(1, MILLIONTH, ZCDP, conversion=MILLIONTH)


@pytest.mark.parametrize(
    ("asked", "difference"),
    [
        (terms(2, MILLIONTH, ZCDP, conversion=MILLIONTH), "cap is 1, not 2"),
        (terms(1, 2 * MILLIONTH, ZCDP, conversion=MILLIONTH), "delta is 0.000001, not 0.000002"),
        (
            terms(1, MILLIONTH, ZCDP, conversion=2 * MILLIONTH),
            "conversion delta is 0.000001, not 0.000002",
        ),
        (terms(2, 0, ZCDP, conversion=MILLIONTH), "cap is 1, not 2"),
    ],
    ids=["cap", "delta", "conversion", "cap up and delta down"],
)
def test_looser_terms_need_the_owner(place: Place, asked: LedgerTerms, difference: str) -> None:
    place.open(RHO).close()
    with pytest.raises(LedgerFault, match=difference) as refusal:
        place.open(asked)
    assert "dpsql ledger amend" in refusal.value.hint
    place.open(RHO).close()


@pytest.mark.parametrize(
    ("asked", "difference"),
    [
        (terms(1, MILLIONTH, ZCDP, "clinic", conversion=MILLIONTH), "dataset is tpch, not clinic"),
        (
            terms(1, MILLIONTH, ZCDP, neighbors="change_one", conversion=MILLIONTH),
            "neighbors is add_remove, not change_one",
        ),
        (terms(1, MILLIONTH, Accounting.APPROX), "accounting is zcdp, not approx"),
        (
            terms(1, MILLIONTH, ZCDP, neighbors="add_remove in groups of 2", conversion=MILLIONTH),
            "its charges hide groups of 1, not of 2",
        ),
    ],
    ids=["dataset", "neighbors", "accounting", "groups"],
)
def test_some_terms_never_change(place: Place, asked: LedgerTerms, difference: str) -> None:
    place.open(RHO).close()
    with pytest.raises(LedgerFault, match=difference):
        place.open(asked)
    with place.as_recorded() as ledger:
        with pytest.raises(LedgerFault, match=difference):
            ledger.amend(asked, "asked")
        assert ledger.terms == RHO


def test_smaller_groups_need_the_owner_and_never_grow_again(place: Place) -> None:
    # What is charged from then on hides one unit only, whatever the schema says later.
    families = terms(1, neighbors="change_one in groups of 3")
    pairs = terms(1, neighbors="change_one in groups of 2")
    place.open(families).close()
    with pytest.raises(LedgerFault, match="group size is 3, not 2") as refusal:
        place.open(pairs)
    assert "dpsql ledger amend" in refusal.value.hint
    with place.as_recorded() as ledger:
        ledger.amend(pairs, "two at most")
    place.open(pairs).close()
    with pytest.raises(LedgerFault, match="its charges hide groups of 2, not of 3"):
        place.open(families)


def test_tighter_terms_are_recorded_and_bind_from_then_on(place: Place) -> None:
    with place.open(terms(10, policy="old")) as ledger:
        ledger.charge(charge(1, 4))
    with place.open(terms(5, policy="new")) as ledger:
        with pytest.raises(BudgetSpent):
            ledger.charge(charge(2, 2))
        assert Tightened(terms(5, policy="old"), "new") in [e.event for e in ledger.history()]
        assert ledger.balance().left == 1
    with pytest.raises(LedgerFault, match="cap is 5, not 10"):
        place.open(terms(10))


def test_a_cap_below_what_was_spent_leaves_nothing(place: Place) -> None:
    with place.open(terms(10)) as ledger:
        ledger.charge(charge(1, 4))
    with place.open(terms(3)) as ledger:
        assert ledger.balance().left == 0
        with pytest.raises(BudgetSpent, match=r"dataset ε 0$"):
            ledger.charge(charge(2, TENTH))
        ledger.verify()


def test_tighter_terms_bind_those_who_opened_before(place: Place) -> None:
    with place.open(terms(10)) as early, place.open(terms(1)), pytest.raises(BudgetSpent):
        early.charge(charge(1, 2))


def test_the_owner_amends(place: Place) -> None:
    with place.open(terms(1)) as ledger:
        ledger.charge(charge(1, 1))
    with place.as_recorded() as ledger:
        ledger.amend(terms(2, policy="wider"), "one more survey")
        assert [e.event for e in ledger.history()][-1] == Amended(
            terms(2, policy="wider"), "one more survey"
        )
    with place.open(terms(2)) as ledger:
        assert ledger.charge(charge(2, 1)).fresh
        assert ledger.terms.policy_hash == "wider"
        ledger.verify()


def test_another_policy_is_accepted_and_shown_in_each_charge(place: Place) -> None:
    place.open(terms(policy="first")).close()
    with place.open(terms(policy="second")) as ledger:
        assert ledger.terms.policy_hash == "first"
        assert len(list(ledger.history())) == 1
