"""Charges that wait for one ledger are written together, and each is admitted on its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from ledger.ledger_world import TENTH, Place, charge, run, terms
from ledger.test_ledger_crash import after, before

from dpsql.errors import BadParameter, BudgetSpent, LedgerFault
from dpsql.ledger.chain.anchor import Anchor
from dpsql.ledger.chain.entry import Charged
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Charge, Receipt
from dpsql.ledger.fault import fault
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage import disk_reservation
from dpsql.ledger.storage.queries import Store
from dpsql.ledger.storage.sqlite import Database
from dpsql.ledger.storage.waiting import WouldWait, without_waiting

Outcome = Receipt | Exception


def outcome(ledger: Ledger, asked: Charge) -> Outcome:
    try:
        return ledger.charge(asked)
    except Exception as error:  # noqa: BLE001 - it is looked at
        return error


def together(ledgers: list[Ledger], asked: list[Charge]) -> list[Outcome]:
    """What becomes of charges that all wait before the first is written, in this order."""
    group = ledgers[0]._charges._group
    assert all(ledger._charges._group is group for ledger in ledgers)
    with ThreadPoolExecutor(len(asked)) as pool:
        with group._turn:
            futures = []
            for ledger, one in zip(ledgers, asked, strict=True):
                futures.append(pool.submit(outcome, ledger, one))
                while len(group._waiting) < len(futures):
                    time.sleep(0.001)
        return [future.result() for future in futures]


def opened(place: Place, number: int, stack: ExitStack, cap: int = 1000) -> list[Ledger]:
    return [stack.enter_context(place.open(terms(cap))) for _ in range(number)]


def shared(place: Place, number: int, stack: ExitStack, cap: int = 1000) -> list[Ledger]:
    """One opening, for so many threads."""
    return [stack.enter_context(place.open(terms(cap)))] * number


either = pytest.mark.parametrize("how", [opened, shared])


@either
@pytest.mark.parametrize("number", [1, 3])
def test_each_charge_of_a_group_tells_what_it_left_itself(
    file_place: Place, how: Callable[..., list[Ledger]], number: int
) -> None:
    with ExitStack() as stack:
        ledgers = how(file_place, number, stack, cap=10)
        outcomes = together(ledgers, [charge(n, own=5) for n in range(number)])
        for count, receipt in enumerate(outcomes, 1):
            assert isinstance(receipt, Receipt)
            assert receipt.left is not None
            of_all, of_one = receipt.left()
            assert (of_all.left, of_one.left) == (10 - count * TENTH, 5 - count * TENTH)
        last = outcomes[-1]
        assert isinstance(last, Receipt)
        assert last.left is not None
        assert last.left() == ledgers[0].balances("alice", Fraction(5))
        assert ledgers[0].charge(charge(0, own=5)).left is None


@either
def test_charges_that_wait_are_one_commit(
    file_place: Place, monkeypatch: pytest.MonkeyPatch, how: Callable[..., list[Ledger]]
) -> None:
    with ExitStack() as stack:
        ledgers = how(file_place, 4, stack)
        commits: list[Chain] = []
        real = Chain.writing

        def counted(own: Chain, *, waits: bool = True) -> AbstractContextManager[None]:
            commits.append(own)
            return real(own, waits=waits)

        monkeypatch.setattr(Chain, "writing", counted)
        receipts = together(ledgers, [charge(n) for n in range(4)])
        assert all(isinstance(one, Receipt) and one.fresh for one in receipts)
        assert len(commits) == 1
        for ledger, receipt in zip(ledgers, receipts, strict=True):
            assert isinstance(receipt, Receipt)
            ledger.release(receipt, b"answer")
        ledgers[0].verify(*(one for one in receipts if isinstance(one, Receipt)))
        assert ledgers[3].balance().spent.amount == 4 * TENTH


@either
def test_together_they_pass_no_cap_and_who_is_refused_costs_the_others_nothing(
    file_place: Place, how: Callable[..., list[Ledger]]
) -> None:
    with ExitStack() as stack:
        ledgers = how(file_place, 5, stack, cap=3)
        before_all = ledgers[0].charge(charge("before", analyst="carol"))
        asked = [
            charge(1, 2),
            charge(2, 1),  # 3.1 in all
            charge("before", analyst="mallory"),  # another's request
            charge(3, TENTH),
            charge(1, 2),  # again
        ]
        first, refused, stolen, fits, again = together(ledgers, asked)
        assert isinstance(first, Receipt)
        assert first.fresh
        assert isinstance(refused, BudgetSpent)
        assert isinstance(stolen, BadParameter)
        assert isinstance(fits, Receipt)
        assert fits.fresh
        assert isinstance(again, Receipt)
        assert not again.fresh
        assert again.seq == first.seq
        assert ledgers[0].balance().spent.amount == 2 + 2 * TENTH
        ledgers[0].release(before_all, b"")
        ledgers[0].verify()


def test_a_fault_of_all_is_told_to_each(file_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        ledgers = opened(file_place, 3, stack)
        with monkeypatch.context() as broken:

            def fails(own: Chain) -> None:
                raise fault(own.path, "has no room", "free some")

            broken.setattr(Chain, "confirm", fails)
            outcomes = together(ledgers, [charge(n) for n in range(3)])
        assert all(isinstance(one, LedgerFault) for one in outcomes)
        assert len({id(one) for one in outcomes}) == 3
        assert {getattr(one, "charge", "") for one in outcomes} == {"nothing was charged"}
        assert ledgers[0].balance().spent.amount == 0
        ledgers[0].verify()


@either
def test_that_charges_dont_come_on_disk_is_told_to_each(
    file_place: Place, monkeypatch: pytest.MonkeyPatch, how: Callable[..., list[Ledger]]
) -> None:
    with ExitStack() as stack:
        ledgers = how(file_place, 3, stack)
        with monkeypatch.context() as broken:

            def fails(own: Anchor) -> None:
                raise fault(own.path, "has no room", "free some")

            broken.setattr(Anchor, "sync", fails)
            receipts = together(ledgers, [charge(n) for n in range(3)])
            faults: list[object] = []
            for ledger, receipt in zip(ledgers, receipts, strict=True):
                assert isinstance(receipt, Receipt)
                faults.append(_result(partial(ledger.release, receipt, b"answer")))
        assert all(isinstance(one, LedgerFault) for one in faults)
        assert len({id(one) for one in faults}) == 3
        assert {getattr(one, "charge", "") for one in faults} == {"its charge stands"}
        assert ledgers[0].balance().spent.amount == 3 * TENTH
        ledgers[0].verify()


def test_who_is_interrupted_writes_nothing_for_others(
    file_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        ledgers = opened(file_place, 2, stack)
        with monkeypatch.context() as stopped:

            def interrupted(*_: object) -> None:
                raise KeyboardInterrupt

            stopped.setattr(Store, "add_request", interrupted)
            group = ledgers[0]._charges._group
            with ThreadPoolExecutor(1) as pool:
                with group._turn:
                    waiting = pool.submit(outcome, ledgers[1], charge(2))
                    while not group._waiting:
                        time.sleep(0.001)
                    leader = threading.Thread(target=_swallow, args=(ledgers[0], charge(1)))
                    leader.start()
                    while len(group._waiting) < 2:
                        time.sleep(0.001)
                leader.join()
                # Whoever came first wrote for both, and was interrupted.
                assert isinstance(_result(waiting.result), LedgerFault | KeyboardInterrupt)
        assert ledgers[0].balance().spent.amount == 0
        assert ledgers[0].charge(charge(3)).fresh


def _swallow(ledger: Ledger, asked: Charge) -> None:
    _result(lambda: ledger.charge(asked))


def _result(of: Callable[[], object]) -> object:
    try:
        return of()
    except BaseException as error:  # noqa: BLE001 - it is looked at
        return error


KILLS: dict[str, Callable[[], Callable[[], None]]] = {
    "after the first's entry": lambda: after(Store, "append"),
    "after the first's request": lambda: after(Store, "add_request"),
    "before the sync": lambda: before(Database, "sync"),
    "before the lines": lambda: before(Anchor, "append"),
    "after the lines": lambda: after(Anchor, "append"),
    "before an answer": lambda: before(Ledger, "release"),
    "in an answer": lambda: after(Store, "settle"),
}


def charge_several_and_die(
    place: Place, log: Path, when: str, how: Callable[..., list[Ledger]]
) -> None:
    with ExitStack() as stack, log.open("a", buffering=1) as told:
        ledgers = how(place, 3, stack)
        KILLS[when]()()
        group = ledgers[0]._charges._group

        def one(number: int) -> None:
            receipt = ledgers[number].charge(charge(number))
            print(number, file=told)
            ledgers[number].release(receipt, b"answer")

        with ThreadPoolExecutor(3) as pool:
            with group._turn:
                asked = [pool.submit(one, number) for number in range(3)]
                while len(group._waiting) < 3:
                    time.sleep(0.001)
            for future in asked:
                future.result()
    os._exit(1)


@either
@pytest.mark.parametrize("when", KILLS)
def test_a_group_that_is_killed_loses_no_charge(
    file_place: Place, tmp_path: Path, when: str, how: Callable[..., list[Ledger]]
) -> None:
    log = tmp_path / "told"
    assert run(charge_several_and_die, file_place, log, when, how) == -signal.SIGKILL
    told = set(log.read_text().split())
    with file_place.open(terms(1000)) as ledger:
        ledger.verify()
        ids = {e.event.request_id for e in ledger.history() if isinstance(e.event, Charged)}
        assert told <= ids
        assert len(ids) in {0, 3}  # all of one commit, or none
        assert ledger.balance().spent.amount == len(ids) * TENTH
        assert ledger.charge(charge("life goes on")).fresh


def test_a_commit_waits_whatever_was_before_it(file_place: Place) -> None:
    with file_place.open() as ledger:
        database = ledger._chain.database
        assert isinstance(database, Database)
        for waits in (False, False, True, True, False, True):
            with database.writing(waits=waits):
                assert database.run("PRAGMA synchronous") == [(2 if waits else 1,)]
        with pytest.raises(ZeroDivisionError), database.writing(waits=False):
            raise ZeroDivisionError
        with database.writing():
            assert database.run("PRAGMA synchronous") == [(2,)]


def test_each_charge_of_an_opening_has_room_of_its_own(
    file_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reserved() -> int:
        return sum("-room-" in path.name for path in file_place.path.parent.iterdir())

    monkeypatch.setattr(disk_reservation, "_has_plenty", lambda *_: False)
    with file_place.open() as ledger:
        first, second = (ledger.charge(charge(number)) for number in range(2))
        assert reserved() == 2
        with file_place.open():
            assert reserved() == 2  # another opening leaves them
        ledger.release(first, b"answer")
        assert reserved() == 1
        assert not ledger.charge(charge(1)).fresh
        assert reserved() == 1
        ledger.burn(second)
        assert reserved() == 0
        ledger.charge(charge(2))
    assert reserved() == 0


def test_who_may_not_wait_doesnt_wait_for_another_thread(file_place: Place) -> None:
    with file_place.open() as ledger, ThreadPoolExecutor(1) as pool:

        def looks() -> Exception | None:
            with without_waiting():
                return outcome_of(ledger)

        with ledger._use:
            assert isinstance(pool.submit(looks).result(30), WouldWait)
        assert pool.submit(looks).result(30) is None


def outcome_of(ledger: Ledger) -> Exception | None:
    try:
        ledger.balance()
    except Exception as error:  # noqa: BLE001 - it is looked at
        return error
    return None
