"""Statements one after another: cancelled, too slow, too many, from several callers at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from assistant import (
    COUNT,
    GROUPS,
    LONG,
    LONG_AND_PUBLIC,
    Assistant,
    charges,
    told,
    told_by_process,
)
from waiting import HANGS_AFTER

from dpsql.errors import BudgetSpent, ExecutionCancelled
from dpsql.mcp.statement_queue import MAX_WAITING, Halted, StatementQueue, Stopped, TooMany
from dpsql.session.interruptible import RUNNING


def test_two_statements_at_once_are_both_answered_and_charged_once_each(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        asked = [COUNT, GROUPS, COUNT, GROUPS]
        found = await asyncio.gather(*(assistant.ask("query", sql=sql) for sql in asked))
        assert found[0]["rows"] == found[2]["rows"]
        assert found[1]["rows"] == found[3]["rows"]
        assert sorted(one["cost"]["stored"] for one in found) == [False, False, True, True]

    told(story, company, "--max-total", "3")
    assert {charge.query for charge in charges(company)} == {COUNT, GROUPS}
    assert len(charges(company)) == 2


def test_calls_at_once_cant_pass_the_limit_of_all(company: Path) -> None:
    async def story(assistant: Assistant) -> int:
        asked = [f"{COUNT} WHERE born > {year}" for year in range(1950, 1970)]
        calls = (assistant.client.call_tool("query", {"sql": sql}) for sql in asked)
        return sum(not result.is_error for result in await asyncio.gather(*calls))

    answered = told(story, company, "--max-cost", "0.2", "--max-total", "0.5")
    assert len(charges(company)) == answered
    assert 1 <= answered < 20


def test_a_call_that_is_cancelled_stops_and_the_next_is_answered(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for sql, seconds in ((LONG, 3), (LONG_AND_PUBLIC, 1)):
            with anyio.move_on_after(seconds):
                await assistant.client.call_tool("query", {"sql": sql})
            assert (await assistant.ask("query", sql=GROUPS))["row_count"] == 6
        assert (await assistant.ask("budget"))["server"]["spent"] > 0

    told_by_process(story, company, "--max-total", "3")
    assert {charge.query for charge in charges(company)} == {LONG, GROUPS}


def test_a_statement_that_takes_too_long_says_what_became_of_its_charge(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        error = await assistant.refusal("query", sql=LONG)
        assert error["sqlstate"] == "57014"
        assert "its charge stands" in error["message"]
        spent = (await assistant.ask("budget"))["server"]["spent"]
        assert 0.4 < spent <= 0.5
        error = await assistant.refusal("query", sql=LONG_AND_PUBLIC)
        assert "nothing was charged" in error["message"]
        assert (await assistant.ask("budget"))["server"]["spent"] == spent

    told_by_process(story, company, "--statement-seconds", "3", "--max-total", "3")
    assert [charge.query for charge in charges(company)] == [LONG]


class Bench:
    """StatementQueue whose statements end when they are interrupted."""

    def __init__(self, seconds: float = 600) -> None:
        self.interrupted = threading.Event()
        self.begun = threading.Event()
        self.turns = StatementQueue(seconds, self.interrupted.set)

    def statement(self, *, charged: bool) -> Callable[[], None]:
        def work() -> None:
            if charged:
                self.turns.step(RUNNING)
            self.begun.set()
            assert self.interrupted.wait(HANGS_AFTER)
            self.turns.step("what comes next")
            raise ExecutionCancelled

        return work


@pytest.mark.parametrize("charged", [True, False])
def test_what_is_stopped_is_waited_for_and_begins_no_charge(charged: bool) -> None:
    bench = Bench(seconds=0.05)

    async def story() -> None:
        said = "its charge stands" if charged else "nothing was charged"
        with pytest.raises(Stopped, match=said):
            await bench.turns.take(bench.statement(charged=charged))
        assert await bench.turns.take(lambda: "next") == "next"

    asyncio.run(story())


def test_a_statement_that_was_stopped_before_its_charge_is_halted_at_it() -> None:
    bench = Bench()
    outcomes: list[type[BaseException]] = []

    def work() -> None:
        bench.begun.set()
        assert bench.interrupted.wait(HANGS_AFTER)
        try:
            bench.turns.step(RUNNING)
        except Halted:
            outcomes.append(Halted)
            raise

    async def story() -> None:
        task = asyncio.create_task(bench.turns.take(work))
        await asyncio.to_thread(bench.begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    assert outcomes == [Halted]
    assert not bench.turns.charged


def test_who_leaves_the_line_has_asked_nothing() -> None:
    bench, asked = Bench(), list[str]()

    async def story() -> None:
        first = asyncio.create_task(bench.turns.take(bench.statement(charged=False)))
        await asyncio.to_thread(bench.begun.wait, 60)
        second = asyncio.create_task(bench.turns.take(lambda: asked.append("second")))
        third = asyncio.create_task(bench.turns.take(lambda: asked.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        await third

    asyncio.run(story())
    assert asked == ["third"]


def test_more_than_may_wait_are_turned_away() -> None:
    bench = Bench()

    async def story() -> None:
        work = bench.statement(charged=False)
        tasks = [asyncio.create_task(bench.turns.take(work)) for _ in range(MAX_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(TooMany):
            await bench.turns.take(lambda: None)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert await bench.turns.take(lambda: 1) == 1

    asyncio.run(story())


def test_a_failure_of_its_own_is_told_though_time_was_over() -> None:
    bench = Bench(seconds=0.05)

    def work() -> Any:
        assert bench.interrupted.wait(HANGS_AFTER)
        raise BudgetSpent("not enough budget is left")

    async def story() -> None:
        with pytest.raises(BudgetSpent):
            await bench.turns.take(work)

    asyncio.run(story())
