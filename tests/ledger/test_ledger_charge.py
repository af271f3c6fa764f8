from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from ledger.ledger_world import PURE, TENTH, Place, charge, terms

from dpsql.errors import (
    BadParameter,
    ExecutionFailed,
    FailedBefore,
    InterfaceError,
    OperationalError,
)
from dpsql.ledger.chain.entry import Burned, Charged, Opened, Released
from dpsql.ledger.charge import Charge, Failure, State
from dpsql.ledger.ledger import Ledger
from dpsql.structs import replace


def spent(ledger: Ledger) -> Fraction:
    return ledger.balance().spent.amount


def test_the_same_request_is_charged_once(place: Place) -> None:
    with place.open() as ledger:
        first = ledger.charge(charge("a"))
        again = ledger.charge(charge("a"))
        assert (first.fresh, again.fresh) == (True, False)
        assert replace(again, fresh=True, left=first.left) == first
        assert spent(ledger) == TENTH


@pytest.mark.parametrize(
    "other",
    [charge("a", request_hash="other"), charge("a", analyst="bob")],
    ids=["other hash", "other analyst"],
)
def test_a_request_id_is_bound_to_its_request(place: Place, other: Charge) -> None:
    with place.open() as ledger:
        ledger.release(ledger.charge(charge("a")), b"alice's")
        with pytest.raises(BadParameter, match="used for another request"):
            ledger.charge(other)
        assert spent(ledger) == TENTH


def test_an_answer_is_replayed_byte_for_byte(place: Place) -> None:
    answer = bytes(range(256)) * 100
    with place.open() as ledger:
        ledger.release(ledger.charge(charge("a")), answer)
        again = ledger.charge(charge("a"))
        assert (again.state, ledger.replay(again)) == (State.RELEASED, answer)
    with place.open() as ledger:
        assert ledger.replay(ledger.charge(charge("a"))) == answer
        assert spent(ledger) == TENTH


def test_a_burned_request_stays_charged_and_has_no_answer(place: Place) -> None:
    with place.open() as ledger:
        ledger.burn(ledger.charge(charge("a")))
        again = ledger.charge(charge("a"))
        assert (again.state, again.fresh) == (State.BURNED, False)
        with pytest.raises(ExecutionFailed):
            ledger.replay(again)
        assert spent(ledger) == TENTH


def test_a_running_request_has_no_answer_yet(place: Place) -> None:
    with place.open() as ledger:
        receipt = ledger.charge(charge("a"))
        with pytest.raises(OperationalError, match="still running"):
            ledger.replay(receipt)


def test_a_charge_answers_once(place: Place) -> None:
    with place.open() as ledger:
        receipt = ledger.charge(charge("a"))
        ledger.release(receipt, b"first draw")
        for settle in (lambda: ledger.release(receipt, b"second"), lambda: ledger.burn(receipt)):
            with pytest.raises(InterfaceError, match="released already"):
                settle()
        assert ledger.replay(receipt) == b"first draw"


def test_a_repeated_request_may_not_be_run_again(place: Place) -> None:
    with place.open() as ledger:
        ledger.charge(charge("a"))
        with pytest.raises(InterfaceError, match="isn't run again"):
            ledger.release(ledger.charge(charge("a")), b"second draw")


def test_a_receipt_of_another_ledger_is_refused(place: Place) -> None:
    with place.open() as ledger:
        receipt = ledger.charge(charge("a"))
        for forged in (
            replace(receipt, hash="0" * 64),
            replace(receipt, seq=1),
            replace(receipt, request_id="b"),
        ):
            with pytest.raises(InterfaceError, match="another ledger"):
                ledger.release(forged, b"")


def test_a_clock_that_goes_back_never_lowers_the_recorded_time(place: Place) -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    times = iter([noon, noon - timedelta(days=1), noon + timedelta(days=40), noon])
    with place.open(clock=lambda: next(times, noon)) as ledger:
        for number in range(4):
            ledger.charge(charge(number))
        recorded = [entry.at for entry in ledger.history()]
        late = noon + timedelta(days=40)
        assert recorded == [noon, noon, late, late, late]


def test_history_says_what_happened(place: Place) -> None:
    with place.open() as ledger:
        asked = charge("a", own=1)
        ledger.release(ledger.charge(asked), b"42")
        ledger.burn(ledger.charge(charge("b")))
        opened, charged, released, _, burned = (entry.event for entry in ledger.history())
    assert isinstance(opened, Opened)
    assert opened.terms == terms()
    assert isinstance(charged, Charged)
    assert (charged.loss, charged.query) == (asked.loss, asked.query)
    assert charged.detail == asked.detail
    assert released == Released("a", hashlib.sha256(b"42").hexdigest(), ())
    assert burned == Burned("b", abandoned=False)


def test_history_goes_on_beyond_one_batch(place: Place) -> None:
    with place.open(terms(100)) as ledger:
        for number in range(600):
            ledger.charge(charge(number))
        assert [entry.seq for entry in ledger.history()] == list(range(1, 602))


def test_an_audit_confirms_receipts(place: Place) -> None:
    with place.open() as ledger:
        receipts = [ledger.charge(charge(number)) for number in range(3)]
        report = ledger.verify(*receipts)
        assert (report.entries, report.hash) == (4, receipts[-1].hash)
        assert report.accounts[""].loss(PURE).amount == 3 * TENTH


def test_a_closed_ledger_refuses_everything(place: Place) -> None:
    ledger = place.open()
    ledger.close()
    ledger.close()
    with pytest.raises(InterfaceError, match="closed"):
        ledger.charge(charge(1))


def test_closing_burns_what_still_runs(place: Place) -> None:
    with place.open() as ledger:
        ledger.charge(charge("a"))
    with place.open() as ledger:
        assert ledger.charge(charge("a")).state is State.BURNED
        assert spent(ledger) == TENTH


def test_a_charge_costs_the_same_however_long_the_history(place: Place) -> None:
    with place.open(terms(100)) as ledger:
        run = ledger._store._run
        rows: list[int] = []

        def counted(query: str, *values: object) -> list[tuple[object, ...]]:
            found = run(query, *values)
            rows.append(len(found))
            return found

        ledger._store._run = counted
        costs = []
        for number in range(50):
            rows.clear()
            ledger.release(ledger.charge(charge(number)), b"")
            costs.append((len(rows), sum(rows)))
        # The first finds no account of the analyst; from the second on nothing depends on length.
        assert len(set(costs[1:])) == 1


def test_a_commit_waits_for_the_disk(file_place: Place) -> None:
    with file_place.open() as ledger:
        settings = {
            name: ledger._chain.database.run(f"PRAGMA {name}")[0][0]
            for name in ("journal_mode", "synchronous", "fullfsync", "busy_timeout")
        }
        full = 2
        assert settings == {
            "journal_mode": "wal",
            "synchronous": full,
            "fullfsync": 1,
            "busy_timeout": 30_000,
        }


def test_a_clock_that_jumps_back_is_warned_of_once(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    with place.open(clock=lambda: now) as ledger:
        first = ledger.charge(charge(1))
    with place.open(clock=lambda: now - timedelta(seconds=2)) as ledger:
        ledger.charge(charge(2))
    assert caplog.text == ""
    with place.open(clock=lambda: now - timedelta(hours=1)) as ledger:
        receipts = [ledger.charge(charge(n)) for n in (3, 4)]
    assert [receipt.at for receipt in receipts] == [first.at, first.at]
    assert caplog.text.count("the clock is 3600 s behind the ledger's last entry") == 1


def test_failures_are_part_of_the_history(place: Place) -> None:
    key = "0" * 64
    with place.open() as ledger:
        assert not ledger.failed([key])
        ledger.burn(ledger.charge(charge(1)), Failure(key, stopped=False))
        assert ledger.failed(["1" * 64, key])
    with place.open() as ledger:
        assert ledger.failed([key])
        before = spent(ledger)
        with pytest.raises(FailedBefore, match="nothing was charged"):
            ledger.charge(replace(charge(2), releases=("1" * 64, key)))
        assert spent(ledger) == before
        ledger.verify()
        last = list(ledger.history())[-1].event
        assert last == Burned("1", abandoned=False, failed=key)
