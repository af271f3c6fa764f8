"""kill -9 at every step of a charge, a release and an opening."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from ledger.ledger_world import PROCESSES, TENTH, Place, charge, run, terms
from neighbor_search.share import in_turn
from waiting import HANGS_AFTER

from dpsql.errors import ExecutionFailed
from dpsql.ledger.chain.anchor import WIDTH, Anchor, Tail
from dpsql.ledger.chain.entry import Charged
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import State, StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage import opening
from dpsql.ledger.storage.file_safety import create_private
from dpsql.ledger.storage.queries import Store
from dpsql.ledger.storage.sqlite import Database
from dpsql.privacy.accounting.loss import PrivacyLoss


def die(*_: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives")


def before(owner: object, name: str) -> Callable[[], None]:
    return lambda: setattr(owner, name, die)


def after(owner: object, name: str) -> Callable[[], None]:
    done = getattr(owner, name)

    def done_and_dead(*given: object) -> NoReturn:
        done(*given)
        die()

    return lambda: setattr(owner, name, done_and_dead)


def torn(whole_lines: int) -> Callable[[], None]:
    """The anchor's line is cut short after `whole_lines` and a half."""

    def tear(self: Anchor, tail: Tail, lines: bytes) -> None:
        create_private(self.path)
        with self.path.open("ab") as file:
            file.write(lines[len(tail.torn) : whole_lines * WIDTH + WIDTH // 2])
        die()

    return lambda: setattr(Anchor, "append", tear)


CHARGING = {
    "before begin": before(Chain, "writing"),
    "after read": after(Store, "account"),
    "after entry": after(Store, "append"),
    "after update": after(Store, "set_account"),
    "before commit": after(Store, "add_request"),
    "after commit": before(Chain, "publish"),
    "before anchor": before(Anchor, "append"),
    "in the anchor's line": torn(0),
    "in the anchor's second line": torn(1),
    "after anchor": after(Anchor, "append"),
}
RELEASING = {
    "before release": before(Ledger, "release"),
    "in release": after(Store, "settle"),
    "before release's commit": after(Store, "mark_paid"),
    "after release, before it is sent": after(Ledger, "release"),
}
OPENING = {
    "after the file": after(opening, "create_private"),
    "after the tables": after(Database, "create"),
    "before the first commit": after(Store, "set_terms"),
    "before the first line": before(Anchor, "append"),
    "in the first line": torn(0),
}


def answer_of(request: str) -> bytes:
    return f"noisy answer of {request}".encode()


def work(
    place: Place,
    log: Path,
    finished: int,
    when: str,
    arm: Callable[[], None] | None,
    attempt: str = "",
) -> None:
    """Finishes some requests, then starts one more with the trap set."""
    with place.open(terms(1000)) as ledger, log.open("a", buffering=1) as told:
        for number in range(finished + 1):
            request = f"{attempt}{when} {number}"
            if number == finished and arm is not None:
                arm()
            receipt = ledger.charge(charge(request))
            print("granted", request, file=told)
            kept = StoredAnswer(
                f"{number:064x}", b"kept", PrivacyLoss(charge(0).loss.accounting, TENTH)
            )
            ledger.release(receipt, answer_of(request), [kept])
            print("sent", request, file=told)


def work_trapped(place: Place, log: Path, finished: int, when: str) -> None:
    work(place, log, finished, when, (CHARGING | RELEASING)[when])


def work_trapped_again(place: Place, log: Path, attempt: int, when: str) -> None:
    arm = (CHARGING | RELEASING)[when]
    work(place, log, attempt % 3, when, arm, f"attempt {attempt}, ")


def work_on(place: Place, log: Path, when: str) -> None:
    work(place, log, 10_000, when, None)


def open_trapped(place: Place, when: str) -> None:
    OPENING[when]()
    place.open(terms(1000))


def check(place: Place, log: Path, crashes: int = 1) -> None:
    """What must hold after so many crashes."""
    told = [line.split(" ", 1) for line in log.read_text().splitlines()]
    with place.open(terms(1000)) as ledger:
        ledger.verify()
        charged = [e.event for e in ledger.history() if isinstance(e.event, Charged)]
        assert ledger.balance().spent.amount == len(charged) * TENTH
        ids = {event.request_id for event in charged}
        # Whoever was told of a charge has been charged; one more at most was under way each time.
        granted = {request for what, request in told if what == "granted"}
        assert granted <= ids
        assert len([new for new in ids - granted if "life goes on" not in new]) <= crashes
        for request in ids:
            if "life goes on" in request:
                continue
            again = ledger.charge(charge(request))
            assert not again.fresh
            if ("sent", request) in map(tuple, told) or again.state is State.RELEASED:
                assert ledger.replay(again) == answer_of(request)
            else:
                assert again.state is State.BURNED
                with pytest.raises(ExecutionFailed):
                    ledger.replay(again)
        assert ledger.balance().spent.amount == len(charged) * TENTH
        assert ledger.charge(charge(f"life goes on after {crashes}")).fresh


@pytest.mark.parametrize(
    ("when", "finished"),
    in_turn(
        (
            (f"{when}-{finished}", (when, finished))
            for number, when in enumerate(CHARGING | RELEASING)
            for finished in ((0, 2) if number % 2 else (2, 0))
        ),
        share=2,
    ),
)
def test_a_crash_loses_no_charge_and_no_answer(
    place: Place, tmp_path: Path, when: str, finished: int
) -> None:
    log = tmp_path / "told"
    assert run(work_trapped, place, log, finished, when) == -signal.SIGKILL
    check(place, log)


@pytest.mark.slow
@pytest.mark.parametrize("when", CHARGING | RELEASING)
def test_twenty_crashes_at_one_point_lose_no_charge_and_no_answer(
    place: Place, tmp_path: Path, when: str
) -> None:
    log = tmp_path / "told"
    for attempt in range(20):
        assert run(work_trapped_again, place, log, attempt, when) == -signal.SIGKILL
        check(place, log, attempt + 1)


@pytest.mark.parametrize("when", OPENING)
def test_a_ledger_that_was_half_made_is_made(file_place: Place, tmp_path: Path, when: str) -> None:
    assert run(open_trapped, file_place, when) == -signal.SIGKILL
    log = tmp_path / "told"
    log.touch()
    check(file_place, log)


def tighten_and_die(place: Place) -> None:
    append = Anchor.append

    def first_line_only(self: Anchor, tail: Tail, lines: bytes) -> None:
        if tail.seq:
            die()
        append(self, tail, lines)

    pytest.MonkeyPatch().setattr(Anchor, "append", first_line_only)
    place.open(terms(10))


def test_a_half_made_ledger_that_is_tightened_at_once_has_an_anchor(place: Place) -> None:
    assert run(open_trapped, place, "before the first line") == -signal.SIGKILL
    assert run(tighten_and_die, place) == -signal.SIGKILL
    with place.open(terms(10)) as ledger:
        ledger.verify()
        assert ledger.balance().cap == 10


def killed_at_random(place: Place, log: Path, seconds: float, when: str) -> None:
    process = PROCESSES.Process(target=work_on, args=(place, log, when))
    process.start()
    time.sleep(seconds)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(HANGS_AFTER)
    process.close()


def test_a_ledger_survives_crashes_at_random_times(place: Place, tmp_path: Path) -> None:
    chance = random.Random(20260101)
    log = tmp_path / "told"
    log.touch()
    for attempt in range(8):
        killed_at_random(place, log, 0.05 + chance.random() / 5, f"attempt {attempt}")
    with place.open(terms(1000)) as ledger:
        ledger.verify()
        ids = {e.event.request_id for e in ledger.history() if isinstance(e.event, Charged)}
        told = [line.split(" ", 1) for line in log.read_text().splitlines()]
        assert {request for what, request in told if what == "granted"} <= ids
        for what, request in told:
            if what == "sent":
                assert ledger.replay(ledger.charge(charge(request))) == answer_of(request)


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(40))
def test_a_ledger_survives_many_crashes(place: Place, tmp_path: Path, attempt: int) -> None:
    chance = random.Random(attempt)
    log = tmp_path / "told"
    log.touch()
    killed_at_random(place, log, chance.random() / 10, "attempt")
    check(place, log)
