from __future__ import annotations

import decimal
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from ledger.ledger_world import run
from waiting import HANGS_AFTER

from dpsql.errors import TooComplex
from dpsql.session.compile import deep_recursion
from dpsql.session.compile.deep_recursion import MAX_IDLE, start_deep, with_deep_stack


def depth(levels: int) -> int:
    return 1 + depth(levels - 1) if levels else 0


def test_work_recurses_deeply_wherever_it_is_asked_for() -> None:
    assert with_deep_stack(lambda: depth(20_000)) == 20_000
    assert with_deep_stack(lambda: with_deep_stack(lambda: depth(20_000))) == 20_000
    with pytest.raises(TooComplex, match="nests too deeply"):
        with_deep_stack(lambda: depth(100_000))
    assert with_deep_stack(lambda: depth(20_000)) == 20_000


def test_work_one_after_the_other_shares_a_thread() -> None:
    with_deep_stack(int)
    first, then = (with_deep_stack(threading.get_ident) for _ in range(2))
    assert first == then != threading.get_ident()


def test_work_on_a_deep_thread_stays_there() -> None:
    def ask() -> tuple[int, int]:
        return threading.get_ident(), with_deep_stack(threading.get_ident)

    (own, asked), there = start_deep(ask).result(), threading.get_ident()
    assert own == asked != there
    assert start_deep(lambda: with_deep_stack(lambda: depth(20_000))).result() == 20_000
    with pytest.raises(ZeroDivisionError):
        start_deep(lambda: with_deep_stack(lambda: 1 // 0)).result()


def test_what_work_sets_is_gone_after_it() -> None:
    def set_precision() -> int:
        before = decimal.getcontext().prec
        decimal.getcontext().prec = 3
        return before

    usual = decimal.DefaultContext.prec
    twice = start_deep(lambda: [with_deep_stack(set_precision) for _ in range(2)])
    assert twice.result() == [usual, usual]
    assert [with_deep_stack(set_precision) for _ in range(2)] == [usual, usual]


def test_a_thread_that_raised_goes_on() -> None:
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: 1 // 0)
    assert with_deep_stack(lambda: 1) == 1


def test_what_took_long_ends_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_recursion, "_LIGHT_SECONDS", 0.0)
    before = with_deep_stack(threading.current_thread)
    before.join(HANGS_AFTER)
    assert not before.is_alive()


def test_few_threads_wait() -> None:
    at_once = threading.Barrier(MAX_IDLE + 2)
    with ThreadPoolExecutor(MAX_IDLE + 2) as pool:
        list(pool.map(lambda _: with_deep_stack(at_once.wait), range(MAX_IDLE + 2)))
    assert len(deep_recursion._threads._idle) == MAX_IDLE


def fork_with_a_deep_thread() -> None:
    with_deep_stack(int)
    child = os.fork()
    if not child:
        os._exit(42 if with_deep_stack(lambda: depth(5_000)) == 5_000 else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only a fork has a parent's threads")
def test_a_forked_process_has_threads_of_its_own() -> None:
    # Not of this process, whose other tests may have left it threads, as Spark's client does.
    assert run(fork_with_a_deep_thread) == 42


def test_room_is_made_again_where_somebody_took_it() -> None:
    with_deep_stack(int)
    sys.setrecursionlimit(1_000)
    assert with_deep_stack(lambda: depth(5_000)) == 5_000
