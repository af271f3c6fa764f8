"""Whose turn it is: first come, first served, and no two with the same question."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from waiting import HANGS_AFTER

from dpsql.errors import ExecutionFailed
from dpsql.pgwire.workers.admission_queue import AdmissionQueue, Ticket


class Crowd:
    """Threads that go in one after the other, and stay until they are told to go."""

    def __init__(self, line: AdmissionQueue) -> None:
        self.line = line
        self.inside: list[str] = []
        self.left: dict[str, threading.Event] = {}
        self.threads: list[threading.Thread] = []

    def come(self, name: str, *keys: str) -> None:
        self.left[name] = threading.Event()
        before = self.line.waiting + len(self.inside)

        def stay() -> None:
            with self.line.acquire(Ticket(), frozenset(keys or (name,))):
                self.inside.append(name)
                self.left[name].wait(HANGS_AFTER)

        self.threads.append(threading.Thread(target=stay))
        self.threads[-1].start()
        self.wait_for(lambda: self.line.waiting + len(self.inside) > before)

    def go(self, name: str) -> None:
        self.left[name].set()

    @staticmethod
    def wait_for(is_true: Callable[[], bool]) -> None:
        for _ in range(2000):
            if is_true():
                return
            time.sleep(0.005)
        pytest.fail("it took too long")


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    found = Crowd(AdmissionQueue(2))
    try:
        yield found
    finally:
        for event in found.left.values():
            event.set()
        for thread in found.threads:
            thread.join()


def test_the_first_to_come_is_the_first_to_go_in(crowd: Crowd) -> None:
    for name in "abcd":
        crowd.come(name)
    assert crowd.inside == ["a", "b"]
    crowd.go("b")
    crowd.wait_for(lambda: crowd.inside == ["a", "b", "c"])
    crowd.go("a")
    crowd.wait_for(lambda: crowd.inside == ["a", "b", "c", "d"])


def test_who_asks_the_same_waits_and_lets_others_pass(crowd: Crowd) -> None:
    crowd.come("a", "x")
    crowd.come("b", "x", "y")
    crowd.come("c", "z")
    assert crowd.inside == ["a", "c"]
    crowd.go("a")
    crowd.wait_for(lambda: crowd.inside == ["a", "c", "b"])


def test_who_gives_the_ticket_back_waits_no_more() -> None:
    line, ticket = AdmissionQueue(1), Ticket()
    with line.acquire(Ticket(), frozenset("a")):
        threading.Timer(0.1, line.cancel, (ticket,)).start()
        with pytest.raises(ExecutionFailed), line.acquire(ticket, frozenset("b")):
            pytest.fail("there was no place")
    with line.acquire(Ticket(), frozenset("c")):
        assert line.waiting == 0
    line.cancel(ticket)
