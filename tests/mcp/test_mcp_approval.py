"""A human decides above a price, in both ways in which clients ask one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from assistant import COUNT, GROUPS, Assistant, charges, told
from mcp.types import CallToolResult, ElicitResult, ErrorData, InputRequiredResult

Human = Callable[[Any, Any], Awaitable[ElicitResult]]
ABOVE = ("--ask-above", "0.2", "--max-total", "3")


def human(asked: list[str], action: Any, **content: Any) -> Human:
    async def answer(_: Any, parameters: Any) -> ElicitResult:
        asked.append(parameters.message)
        return ElicitResult(action=action, content=content or None)

    return answer


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_human_is_asked_once_above_the_price_and_never_below(company: Path, mode: str) -> None:
    asked: list[str] = []

    async def story(assistant: Assistant) -> None:
        await assistant.ask("query", sql=COUNT, epsilon=0.2)
        await assistant.ask("query", sql="SELECT count(*) FROM departments")
        assert asked == []
        await assistant.ask("query", sql=GROUPS)
        await assistant.ask("query", sql=GROUPS)
        assert (await assistant.refusal("query", sql="SELECT * FROM staff"))["sqlstate"] == "42501"
        assert (await assistant.refusal("query", sql=GROUPS, epsilon=1))["sqlstate"] == "53400"

    told(story, company, *ABOVE, mode=mode, elicitation_callback=human(asked, "accept", spend=True))
    (message,) = asked
    assert "spend epsilon = 0.49999" in message
    assert message.endswith(GROUPS)
    assert len(charges(company)) == 2


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_whatever_isnt_a_yes_spends_nothing(company: Path, mode: str) -> None:
    answers: list[ElicitResult | ErrorData] = [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept"),
        ElicitResult(action="accept", content={"spend": False}),
    ]
    if mode == "legacy":
        answers.append(ErrorData(code=-32603, message="nobody is there"))
    rest = list(answers)

    async def answer(_: Any, __: Any) -> ElicitResult | ErrorData:
        return rest.pop()

    async def story(assistant: Assistant) -> None:
        for _ in answers:
            error = await assistant.refusal("query", sql=GROUPS)
            assert error["sqlstate"] == "57014"
            assert "a human hasn't agreed" in error["message"]

    told(story, company, *ABOVE, mode=mode, elicitation_callback=answer)
    assert rest == []
    assert charges(company) == []


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_can_ask_nobody_is_refused(company: Path, mode: str) -> None:
    async def story(assistant: Assistant) -> None:
        error = await assistant.refusal("query", sql=GROUPS)
        assert "this client can't ask one; nothing was charged" in error["message"]
        assert (await assistant.ask("query", sql=GROUPS, epsilon=0.1))["cost"]["epsilon"] <= 0.1

    told(story, company, *ABOVE, mode=mode)


def test_a_yes_holds_for_the_statement_that_it_was_said_to_and_once(company: Path) -> None:
    yes = {"approval": ElicitResult(action="accept", content={"spend": True})}

    async def story(assistant: Assistant) -> None:
        session = assistant.client.session

        async def call(sql: str, **more: Any) -> CallToolResult | InputRequiredResult:
            arguments = {"sql": sql}
            called: CallToolResult | InputRequiredResult = await session.call_tool(
                "query", arguments, allow_input_required=True, **more
            )
            return called

        first = await call(GROUPS)
        assert isinstance(first, InputRequiredResult)
        state = first.request_state
        for sql, given in ((COUNT, state), (GROUPS, state), (GROUPS, "made up"), (GROUPS, None)):
            again = await call(sql, input_responses=yes, request_state=given)
            assert isinstance(again, InputRequiredResult)
        assert charges(company) == []
        last = await call(GROUPS)
        assert isinstance(last, InputRequiredResult)
        paid = await call(GROUPS, input_responses=yes, request_state=last.request_state)
        assert isinstance(paid, CallToolResult)
        assert not paid.is_error

    told(story, company, *ABOVE, elicitation_callback=human([], "accept", spend=True))
    assert len(charges(company)) == 1


def test_nothing_in_a_question_acts_on_the_screen_that_shows_it(company: Path) -> None:
    asked: list[str] = []

    async def story(assistant: Assistant) -> None:
        await assistant.ask("query", sql=f"{COUNT} /* \x1b[2J \u202e */")

    told(story, company, *ABOVE, elicitation_callback=human(asked, "accept", spend=True))
    assert "\x1b" not in asked[0]
    assert "\u202e" not in asked[0]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_nobody_agrees_to_what_they_are_not_shown(company: Path, mode: str) -> None:
    asked: list[str] = []
    padded = f"{COUNT} /*{'.' * 4_000}*/"
    # Each of these is shown as six signs.
    escaped = f"{COUNT} /*{chr(0x202E) * 700}*/"

    async def story(assistant: Assistant) -> None:
        for sql in (padded, escaped):
            error = await assistant.refusal("query", sql=sql)
            assert error["sqlstate"] == "57014"
            assert "is shown 4,000 signs" in error["message"]
            assert (await assistant.ask("query", sql=sql, epsilon=0.1))["cost"]["epsilon"] <= 0.1
        batch = {"statements": [GROUPS, f"{COUNT} /*{'.' * 4_000}*/"], "epsilon": 0.3}
        assert "4,000" in (await assistant.refusal("query_batch", **batch))["message"]

    told(story, company, *ABOVE, mode=mode, elicitation_callback=human(asked, "accept", spend=True))
    assert asked == []
