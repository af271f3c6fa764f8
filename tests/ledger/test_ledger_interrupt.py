"""Ctrl-C in the main thread, between any two steps of Python: the ledger goes on."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from ledger.ledger_world import TENTH, Place, charge, terms
from ledger.test_ledger_power import slow_disk
from waiting import HANGS_AFTER

import dpsql
from dpsql.ledger.chain.entry import Charged
from dpsql.ledger.charge import Receipt, StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.queries import Store
from dpsql.ledger.storage.sync_queue import await_begun, begin
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.session import interruptible

OURS = str(Path(dpsql.__file__).parent)
LIBRARY = str(Path(threading.__file__).parent)
STRIDE = 251
"""Steps between two interrupts of a run; `pytest -m slow` tries each one."""


@pytest.fixture(autouse=True)
def ctrl_c_raises() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, as where Python starts: a shell's background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Steps:
    """Counts the main thread's steps, of dpsql and of what it calls; `at` one, Ctrl-C comes."""

    def __init__(self, at: int = 0) -> None:
        self.count = 0
        self._at = at

    def __call__(self, frame: FrameType, event: str, _: object) -> Steps | None:
        if not frame.f_code.co_filename.startswith((OURS, LIBRARY)):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.count += 1
            if self.count == self._at:
                signal.raise_signal(signal.SIGINT)
        return self


@contextmanager
def counting(steps: Steps) -> Iterator[None]:
    sys.settrace(steps)
    try:
        yield
    finally:
        sys.settrace(None)


def use(ledger: Ledger, number: int) -> None:
    """A charge with its answer, one with none, a look at what another has paid for."""
    key = f"{number:064x}"
    kept = StoredAnswer(key, b"kept", PrivacyLoss(charge(0).loss.accounting, TENTH))
    ledger.release(ledger.charge(charge(f"{number} answered")), b"answer", [kept])
    ledger.burn(ledger.charge(charge(f"{number} burned")))
    ledger.read_answers([key], "bob", None, "policy-1")
    ledger.balance()


def spent(ledger: Ledger) -> object:
    """What other threads see of the ledger."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: ledger.balance().spent.amount).result(HANGS_AFTER)


@pytest.mark.parametrize("stride", [STRIDE, pytest.param(1, marks=pytest.mark.slow)])
def test_no_ctrl_c_leaves_a_ledger_locked(file_place: Place, stride: int) -> None:
    with file_place.open(terms(10_000)) as ledger:
        steps = Steps()
        with counting(steps):
            use(ledger, 0)
        for number, at in enumerate(range(1, steps.count, stride), 1):
            with suppress(KeyboardInterrupt), counting(Steps(at)):
                use(ledger, number)
            await_begun()  # which uses it, too
            assert not ledger._use._lock.locked()
            assert not ledger._charges._group._turn.locked()
            assert not ledger._charges._group._waiting
        charges = sum(isinstance(entry.event, Charged) for entry in ledger.history())
        assert spent(ledger) == charges * TENTH
        ledger.verify()


def press(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_a_ctrl_c_is_raised_once_the_charge_is_done(
    file_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_request = Store.add_request

    def added(own: Store, *given: Any) -> None:
        add_request(own, *given)
        press()
        press()

    with file_place.open(terms(1)) as ledger:
        monkeypatch.setattr(Store, "add_request", added)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge(charge(1))
        assert ledger.balance().spent.amount == TENTH
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("settled", [Ledger.burn, Ledger.await_disk])
def test_a_second_ctrl_c_waits_for_the_disk_too(
    file_place: Place, settled: Callable[[Ledger, Receipt], None]
) -> None:
    with file_place.open(terms(1)) as ledger, pytest.MonkeyPatch.context() as patch:
        with slow_disk(patch) as written:
            receipt = ledger.charge(charge(1))
            for seconds in (0.02, 0.04):
                threading.Timer(seconds, press).start()
            threading.Timer(0.1, written.set).start()
            with pytest.raises(KeyboardInterrupt):
                settled(ledger, receipt)
        assert receipt.hash in file_place.anchor.read_text()


def test_who_leaves_a_statement_alone_waits_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second Ctrl-C ends the waiting for the engine."""
    charged, ended, on_disk = threading.Event(), threading.Event(), threading.Event()

    def pressed(_: object) -> bool:
        charged.wait(HANGS_AFTER)
        raise KeyboardInterrupt

    def sync() -> None:
        time.sleep(0.1)
        on_disk.set()

    def work() -> None:
        begin("a ledger", sync)
        charged.set()
        ended.wait(HANGS_AFTER)

    monkeypatch.setattr(interruptible, "is_done", pressed)
    with pytest.raises(KeyboardInterrupt):
        interruptible.interruptible(work, lambda: None)
    assert on_disk.is_set()
    ended.set()
