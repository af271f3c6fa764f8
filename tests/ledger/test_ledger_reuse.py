from __future__ import annotations

from fractions import Fraction

import pytest
from ledger.ledger_world import PURE, TENTH, Place, charge

from dpsql.errors import BadParameter, BudgetSpent, NotOwner
from dpsql.ledger.charge import Charge, State, StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.structs import replace

KEY, OTHER = "a" * 64, "b" * 64


def kept(key: str = KEY, answer: bytes = b"noisy", amount: Fraction = TENTH) -> StoredAnswer:
    return StoredAnswer(key, answer, PrivacyLoss(PURE, amount))


def release(ledger: Ledger, request: str, *keep: StoredAnswer, analyst: str = "bob") -> None:
    receipt = ledger.charge(charge(request, len(keep) * TENTH, analyst=analyst))
    ledger.release(receipt, b"the whole answer", keep)


def amount(ledger: Ledger, analyst: str | None = None) -> Fraction:
    return ledger.balance(analyst).spent.amount


def test_who_paid_sees_it_again_for_nothing(place: Place) -> None:
    with place.open() as ledger:
        release(ledger, "1", kept())
        entries = len(list(ledger.history()))
        assert ledger.read_answers([KEY], "bob", TENTH, "p") == (b"noisy",)
        assert len(list(ledger.history())) == entries


def test_another_reader_pays_once_from_their_own_cap_alone(place: Place) -> None:
    with place.open() as ledger:
        release(ledger, "1", kept())
        assert not ledger.has_paid(KEY, "alice")
        for _ in range(3):
            assert ledger.read_answers([KEY], "alice", Fraction(1), "p") == (b"noisy",)
        assert ledger.has_paid(KEY, "alice")
        assert (amount(ledger), amount(ledger, "alice")) == (TENTH, TENTH)
        ledger.verify()


def test_a_reader_beyond_their_cap_is_refused(place: Place) -> None:
    with place.open() as ledger:
        release(ledger, "1", kept(), kept(OTHER))
        with pytest.raises(BudgetSpent, match=r"analyst ε 0\.15$"):
            ledger.read_answers([KEY, OTHER], "alice", Fraction(3, 20), "p")
        assert amount(ledger, "alice") == 0
        assert not ledger.has_paid(KEY, "alice")
        assert ledger.read_answers([KEY], "alice", Fraction(3, 20), "p") == (b"noisy",)


def test_a_reader_without_a_cap_is_recorded(place: Place) -> None:
    with place.open() as ledger:
        release(ledger, "1", kept())
        ledger.read_answers([KEY], "alice", None, "p")
        assert amount(ledger, "alice") == TENTH


def test_several_releases_of_a_statement_are_kept_apart(place: Place) -> None:
    with place.open() as ledger:
        release(ledger, "1", kept(), kept(OTHER, b"other"))
        assert ledger.read_answers([OTHER, KEY, OTHER], "alice", None, "p") == (
            b"other",
            b"noisy",
            b"other",
        )
        assert amount(ledger, "alice") == 2 * TENTH


def test_the_first_answer_of_a_key_stays_and_is_what_others_get(place: Place) -> None:
    with place.open() as ledger:
        bob, carol = (ledger.charge(charge(a, 2 * TENTH, analyst=a)) for a in ("bob", "carol"))
        assert ledger.release(bob, b"", [kept(answer=b"first")]) == {}
        drawn = [kept(answer=b"second"), kept(OTHER, b"other")]
        # Carol paid for one draw: if she were shown this one, she could ask for the first, too.
        assert ledger.release(carol, b"", drawn) == {KEY: b"first"}
        assert not ledger.has_paid(KEY, "carol")
        assert not ledger.stored_answers([OTHER])
        assert ledger.release(carol, b"", [kept(answer=b"first"), drawn[1]]) == {}
        assert ledger.read_answers([KEY, OTHER], "carol", 2 * TENTH, "p") == (b"first", b"other")
        assert (amount(ledger), amount(ledger, "carol")) == (4 * TENTH, 2 * TENTH)
        ledger.verify()


def test_kept_releases_outlive_the_process(place: Place) -> None:
    with place.open() as ledger:
        release(ledger, "1", kept())
    with place.open() as ledger:
        assert ledger.stored_answers([OTHER, KEY])[KEY].loss.amount == TENTH
        assert ledger.read_answers([KEY], "bob", None, "p") == (b"noisy",)


def test_what_is_not_kept_is_not_there(place: Place) -> None:
    with place.open() as ledger:
        assert not ledger.stored_answers([KEY])
        with pytest.raises(BadParameter, match="no release is kept"):
            ledger.read_answers([KEY], "alice", None, "p")


@pytest.mark.parametrize(
    "keep",
    [
        [kept("short")],
        [kept("A" * 64)],
        [kept(amount=Fraction(2))],
        [kept(), kept(OTHER)],
        [kept(amount=TENTH / 2), kept(amount=TENTH / 2)],
    ],
    ids=["short key", "upper case", "dearer than the charge", "dearer together", "one key twice"],
)
def test_releases_that_were_not_paid_for_are_not_kept(
    place: Place, keep: list[StoredAnswer]
) -> None:
    with place.open() as ledger:
        receipt = ledger.charge(charge(1, TENTH))
        with pytest.raises(BadParameter):
            ledger.release(receipt, b"", keep)
        ledger.release(receipt, b"")


def test_what_was_paid_before_costs_nothing_more_for_who_paid(place: Place) -> None:
    def request(name: str, analyst: str = "bob", paid_by: str = KEY) -> Charge:
        wanted = charge(name, TENTH, analyst=analyst)
        return replace(wanted, loss=PrivacyLoss(PURE, Fraction(0)), paid_by=paid_by)

    with place.open() as ledger:
        release(ledger, "1", kept())
        before = amount(ledger), amount(ledger, "bob")
        receipt = ledger.charge(request("2"))
        assert receipt.fresh
        assert ledger.receipt("2") == replace(receipt, fresh=False, left=None)
        ledger.release(receipt, b"checked")
        ledger.await_releases()
        assert (amount(ledger), amount(ledger, "bob")) == before
        found = ledger.receipt("2")
        assert found is not None
        assert (found.state, ledger.replay(found)) == (State.RELEASED, b"checked")
        assert ledger.receipt("3") is None
        for wrong in (request("3", analyst="alice"), request("3", paid_by=OTHER)):
            with pytest.raises(NotOwner, match="by another analyst"):
                ledger.charge(wrong)
        for wrong in (
            replace(request("3"), paid_by=None),
            replace(charge("3", TENTH, analyst="bob"), paid_by=KEY),
        ):
            with pytest.raises(BadParameter):
                ledger.charge(wrong)
        ledger.verify()
