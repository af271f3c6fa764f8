"""Statements are translated and proved one after the other, and none of them holds up the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest
from pgwire.test_wire_line import Crowd
from waiting import HANGS_AFTER

from dpsql.ledger.storage.waiting import WouldWait, without_waiting
from dpsql.pgwire.answering import interpreter_queue
from dpsql.pgwire.answering.interpreter_queue import InterpreterQueue, QueuedPlans
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.pgwire.sql.translate import Translated, translated
from dpsql.session.compile.compiled import CompiledStatement


class Computing:
    """Threads that take a turn each, in the order in which they came, until they are told to go."""

    def __init__(self, queue: InterpreterQueue) -> None:
        self.queue = queue
        self.inside: list[str] = []
        self.gone: list[str] = []
        self.leave: dict[str, threading.Event] = {}
        self.threads: list[threading.Thread] = []

    def come(self, name: str) -> None:
        self.leave[name] = threading.Event()
        before = self.queue.waiting + len(self.inside)

        def compute() -> None:
            with self.queue.turn():
                self.inside.append(name)
                self.leave[name].wait(HANGS_AFTER)
            self.gone.append(name)

        self.threads.append(threading.Thread(target=compute))
        self.threads[-1].start()
        Crowd.wait_for(lambda: self.queue.waiting + len(self.inside) > before)

    def go(self, name: str) -> None:
        self.leave[name].set()
        Crowd.wait_for(lambda: name in self.gone)

    def wait_inside(self, *names: str) -> None:
        Crowd.wait_for(lambda: len(self.inside) >= len(names))
        assert self.inside == list(names)


@pytest.fixture
def begin() -> Iterator[Callable[[float], Computing]]:
    made: list[Computing] = []

    def computing(patience: float) -> Computing:
        made.append(Computing(InterpreterQueue(patience)))
        return made[-1]

    yield computing
    for one in made:
        for event in one.leave.values():
            event.set()
        for thread in one.threads:
            thread.join()


def test_one_computes_at_a_time_in_the_order_of_coming(
    begin: Callable[[float], Computing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter_queue, "LONG_SECONDS", 60)
    computing = begin(60)
    for name in "abcd":
        computing.come(name)
    for number, name in enumerate("abcd", 1):
        computing.wait_inside(*"abcd"[:number])
        computing.go(name)
    assert computing.queue.waiting == 0
    computing.come("e")
    computing.wait_inside(*"abcde")


def test_who_takes_long_is_passed_by(
    begin: Callable[[float], Computing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter_queue, "LONG_SECONDS", 60)
    computing = begin(60)
    for name in "abc":
        computing.come(name)
    monkeypatch.setattr(interpreter_queue, "LONG_SECONDS", 0)
    computing.come("d")  # which has the first of those who wait go in
    computing.wait_inside(*"ab")
    computing.go("a")  # not its turn any more
    computing.wait_inside(*"ab")
    computing.go("b")
    computing.wait_inside(*"abc")


def test_who_has_waited_long_goes_on(
    begin: Callable[[float], Computing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter_queue, "LONG_SECONDS", 60)
    computing = begin(0.01)
    computing.come("a")
    computing.come("b")
    computing.wait_inside(*"ab")
    computing.go("b")
    assert computing.queue.waiting == 0
    computing.come("c")
    computing.go("a")
    computing.wait_inside(*"abc")


def test_a_turn_ends_with_an_error() -> None:
    plans = QueuedPlans(InterpreterQueue(60), 2)

    def fails() -> CompiledStatement:
        raise ZeroDivisionError

    for key in ("a", "a", "b"):
        with pytest.raises(ZeroDivisionError):
            plans.get(key, fails)


def test_the_event_loop_waits_for_nobody() -> None:
    with without_waiting(), pytest.raises(WouldWait), InterpreterQueue().turn():
        pass


def test_a_text_that_many_send_at_once_is_translated_once(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def counted(written: str, *arguments: object) -> Translated:
        texts.append(written)
        return translated(written, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("dpsql.pgwire.sql.query_reader.translated", counted)
    people, charts = 8, [f"SELECT count(*) AS n{n} FROM orders" for n in range(6)]
    together = threading.Barrier(people)
    with ExitStack() as stack, ThreadPoolExecutor(people) as threads:
        asking = [
            stack.enter_context(closing(QueryService(dataset, "alice"))) for _ in range(people)
        ]

        def opens(one: QueryService) -> None:
            together.wait(HANGS_AFTER)
            for sql in charts:
                one.reader.read(sql)

        list(threads.map(opens, asking))
    assert sorted(texts) == charts
