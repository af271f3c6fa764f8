"""Several processes and threads at one ledger."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ledger.ledger_world import PROCESSES, TENTH, Place, charge, place_in, run, terms
from waiting import HANGS_AFTER

from dpsql.errors import BudgetSpent, InterfaceError
from dpsql.ledger.chain.anchor import WIDTH
from dpsql.ledger.chain.entry import Burned
from dpsql.ledger.charge import State


def spend_all(place: Place, who: int, tries: int, granted: Path) -> None:
    with place.open(terms(100)) as ledger, granted.open("w") as file:
        for number in range(tries):
            try:
                ledger.charge(charge(f"{who}-{number}", 1, analyst=f"analyst {who}"))
            except BudgetSpent:
                continue
            print(number, file=file)


def test_eight_processes_spend_the_cap_exactly(place: Place, tmp_path: Path) -> None:
    # All eight find no ledger, so they also race to create it.
    logs = [tmp_path / f"granted {who}" for who in range(8)]
    running = [
        PROCESSES.Process(target=spend_all, args=(place, who, 200, log))
        for who, log in enumerate(logs)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join(HANGS_AFTER)
        assert process.exitcode == 0
        process.close()
    granted = [len(log.read_text().splitlines()) for log in logs]
    assert sum(granted) == 100
    with place.open(terms(100)) as ledger:
        assert ledger.balance().left == 0
        assert [ledger.balance(f"analyst {who}").spent.amount for who in range(8)] == granted
        ledger.verify()


def create(place: Place) -> None:
    place.open().close()


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(4))
def test_processes_that_create_one_ledger_agree(place: Place, attempt: int) -> None:
    assert attempt >= 0
    running = [PROCESSES.Process(target=create, args=(place,)) for _ in range(6)]
    for process in running:
        process.start()
    for process in running:
        process.join(HANGS_AFTER)
        assert process.exitcode == 0
        process.close()


def test_threads_share_an_open_ledger(place: Place) -> None:
    with place.open(terms(5)) as ledger, ThreadPoolExecutor(8) as pool:

        def spend(number: int) -> bool:
            try:
                receipt = ledger.charge(charge(number))
            except BudgetSpent:
                return False
            ledger.release(receipt, str(number).encode())
            return True

        assert sum(pool.map(spend, range(100))) == 50
        assert ledger.balance().left == 0
        ledger.verify()


def test_one_request_sent_by_many_threads_runs_once(place: Place) -> None:
    start = threading.Barrier(8)
    with place.open() as ledger, ThreadPoolExecutor(8) as pool:

        def ask(_: int) -> bool:
            start.wait()
            return ledger.charge(charge("the same")).fresh

        assert sorted(pool.map(ask, range(8))) == [False] * 7 + [True]
        assert ledger.balance().spent.amount == TENTH


def charge_and_die(place: Place) -> None:
    place.open().charge(charge("abandoned"))
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_dead_process_ran_is_burned_at_the_next_opening(place: Place) -> None:
    assert run(charge_and_die, place) == -signal.SIGKILL
    with place.open() as ledger:
        assert Burned("abandoned", abandoned=True) in [e.event for e in ledger.history()]
        assert ledger.balance().spent.amount == TENTH


def test_what_a_dead_process_ran_is_burned_when_it_is_asked_again(place: Place) -> None:
    with place.open() as ledger:
        assert run(charge_and_die, place) == -signal.SIGKILL
        receipt = ledger.charge(charge("abandoned"))
        assert (receipt.state, receipt.fresh) == (State.BURNED, False)
        ledger.verify()


def look_at(place: Place) -> None:
    with place.open() as ledger:
        assert ledger.charge(charge("slow")).state is State.CHARGED


def test_what_a_living_process_runs_is_left_alone(place: Place) -> None:
    with place.open() as ledger:
        receipt = ledger.charge(charge("slow"))
        assert run(look_at, place) == 0
        # An opening in the same process, and its end, don't take the sign of life down either.
        place.open().close()
        assert run(look_at, place) == 0
        ledger.release(receipt, b"at last")
        assert ledger.replay(receipt) == b"at last"


def test_signs_of_life_are_taken_down(file_place: Place) -> None:
    assert run(charge_and_die, file_place) == -signal.SIGKILL
    with file_place.open():
        folder = file_place.path.with_name("ledger.db-live")
        assert len(list(folder.iterdir())) == 1
    assert list(folder.iterdir()) == []


def fork_with_a_ledger(place: Place) -> None:
    with place.open() as ledger:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                ledger.charge(charge(1))
            except InterfaceError:
                ledger.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert ledger.charge(charge(1)).fresh


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_may_not_use_its_parents_ledger(place: Place) -> None:
    # Not of this process, whose other tests may have left it threads, as Spark's client does.
    assert run(fork_with_a_ledger, place) == 0


def test_two_datasets_have_two_budgets(tmp_path: Path) -> None:
    first, second = place_in(tmp_path, "first"), place_in(tmp_path, "second")
    with first.open(terms(1)) as one, second.open(terms(1, dataset="clinic")) as other:
        one.charge(charge(1, 1))
        assert other.charge(charge(1, 1)).fresh


CLOSES_AT_EXIT = """
import atexit, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from ledger.ledger_world import Place, charge, terms
place = Place(Path(sys.argv[1]), Path(sys.argv[2]))
ledger = place.open(terms(1000))
atexit.register(ledger.close)
ledger.charge(charge(1))
"""


def test_a_ledger_that_is_closed_as_python_ends_is_anchored(file_place: Place) -> None:
    # By then, Python has no threads that could sync a file.
    tests = Path(__file__).parents[1]
    places = [str(path) for path in (file_place.path, file_place.anchor, tests)]
    command = [sys.executable, "-c", CLOSES_AT_EXIT, *places]
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=HANGS_AFTER
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(file_place.anchor.read_bytes()) == 3 * WIDTH  # opened, charged, burned
    with file_place.open(terms(1000)) as ledger:
        ledger.verify()
