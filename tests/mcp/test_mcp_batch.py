"""Several statements at once: priced before, charged in one entry or refused, within all limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assistant import COUNT, GROUPS, Assistant, charges, told
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult

BY_DECADE = "SELECT born // 10 AS decade, count(*) AS n FROM staff GROUP BY decade"
PAY = "SELECT avg(salary) AS mean FROM staff"
DEPARTMENTS = "SELECT count(*) AS n FROM departments"
BATCH = [GROUPS, BY_DECADE, COUNT, PAY]
MANY = ("--max-total", "3")


def born(*years: int) -> list[str]:
    return [f"SELECT count(*) AS n FROM staff WHERE born > {year}" for year in years]


def accounted(company: Path, accounting: str) -> Path:
    delta = "" if accounting == "pure" else ", delta: 1.0e-6"
    text = company.read_text()
    budget = f"{{epsilon: 3{delta}, accounting: {accounting}}}"
    company.write_text(text.replace("{epsilon: 3, delta: 1.0e-6}", budget))
    return company


def test_a_batch_is_priced_charged_in_one_entry_and_then_free(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        price = await assistant.ask("explain_batch", statements=BATCH)
        cost = price["cost"]
        assert price["allowed"]
        assert max(cost["epsilon_of_each"]) < cost["epsilon"] <= cost["epsilon_one_by_one"]
        planned, alone = price["parts"]
        assert "3 statements are planned as one" in planned["text"]
        assert alone["noise"][0]["column"] == "avg(salary)"
        assert charges(company) == []
        found = await assistant.ask("query_batch", statements=BATCH)
        assert found["cost"]["epsilon"] == cost["epsilon"]
        assert found["cost"]["epsilon"] == found["budget"]["server"]["spent"]
        assert found["cost"]["receipt"]
        assert "3 statements are planned as one" in found["notes"][0]
        again = await assistant.ask("query_batch", statements=BATCH)
        assert again["answers"] == found["answers"]
        assert again["cost"]["stored"]
        assert again["budget"] == found["budget"]
        part = await assistant.ask("query_batch", statements=BATCH, max_rows=2)
        assert [len(answer["rows"]) for answer in part["answers"]] == [2, 2, 1, 1]
        for sql, answer in zip(BATCH, found["answers"], strict=True):
            one = await assistant.ask("query", sql=sql)
            assert one["rows"] == answer["rows"]
            assert one["row_count"] == answer["row_count"]

    told(story, company, *MANY)
    (charge,) = charges(company)
    assert charge.query == ";\n".join(BATCH)


def test_what_was_asked_before_and_public_tables_are_free_in_a_batch(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        free = await assistant.ask("query_batch", statements=[DEPARTMENTS])
        assert free["answers"][0]["rows"] == [[6]]
        assert free["cost"]["epsilon"] == 0
        first = await assistant.ask("query", sql=COUNT)
        found = await assistant.ask("query_batch", statements=[COUNT, DEPARTMENTS, COUNT])
        assert [one["rows"] for one in found["answers"]] == [first["rows"], [[6]], first["rows"]]
        assert found["budget"] == first["budget"]
        assert found["cost"]["receipt"] is None

    told(story, company, *MANY)
    assert len(charges(company)) == 1


def test_one_refused_statement_refuses_all_and_is_named_with_a_fix(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for tool in ("explain_batch", "query_batch"):
            wrong = [COUNT, "SELECT count(*) FROM staff WHERE bron > 1980", PAY]
            error = await assistant.refusal(tool, statements=wrong)
            assert error["sqlstate"] == "42703"
            assert (error["statement"], error["position"]) == (2, 34)
            assert error["fix"]["statements"] == [COUNT, wrong[1].replace("bron", "born"), PAY]
            assert (await assistant.ask("explain_batch", **error["fix"]))["allowed"]
            for other in (
                f"{COUNT} OPTIONS (epsilon = 0.1)",
                "SET dpsql.epsilon = 3",
                f"CREATE RELEASE kept AS {COUNT}",
                "DROP RELEASE kept",
                "SHOW ALERTS",
            ):
                error = await assistant.refusal(tool, statements=[PAY, COUNT, other])
                assert error["statement"] == 3
                assert "a batch has queries only" in error["message"]
                assert "SET" not in error["hint"]

    told(story, company, *MANY)
    assert charges(company) == []


@pytest.mark.parametrize("accounting", ["zcdp", "gdp", "approx"])
def test_batches_are_within_the_limits_of_each_and_of_all(company: Path, accounting: str) -> None:
    async def story(assistant: Assistant) -> None:
        statements = born(*range(1950, 1958))
        dear = await assistant.ask("explain_batch", statements=statements, epsilon=0.5)
        assert not dear["allowed"]
        error = await assistant.refusal("query_batch", statements=statements, epsilon=0.5)
        assert error["sqlstate"] == "53400"
        assert "no more than 0.1 may be spent on each here" in error["message"]
        assert (await assistant.ask("explain_batch", statements=statements, **error["fix"]))[
            "allowed"
        ]
        assert not (await assistant.ask("explain_batch", statements=statements))["allowed"]
        error = await assistant.refusal("query_batch", statements=statements)
        assert "together, and no more than 0.15 may be spent on them here" in error["message"]
        assert (await assistant.ask("budget"))["server"]["spent"] == 0
        own = await assistant.refusal("query_batch", statements=statements, max_cost=0.05)
        assert own["fix"]["epsilon"] < error["fix"]["epsilon"]
        found = await assistant.ask("query_batch", statements=statements, **error["fix"])
        assert 0 < found["cost"]["epsilon"] <= found["budget"]["server"]["spent"] <= 0.15
        assert found["cost"]["epsilon"] <= found["epsilon_one_by_one"]
        left = await assistant.refusal("query_batch", statements=born(1960, 1961, 1962, 1963))
        assert "may be spent on" in left["message"]

    told(story, accounted(company, accounting), "--max-cost", "0.1", "--max-total", "0.15")
    assert len(charges(company)) == 1


def test_where_batches_gain_nothing_they_are_refused(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for tool in ("explain_batch", "query_batch"):
            error = await assistant.refusal(tool, statements=BATCH)
            assert error["sqlstate"] == "0A000"
            assert "one by one" in error["hint"]
            assert "statement" not in error

    told(story, accounted(company, "pure"), *MANY)
    assert charges(company) == []


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("action", ["accept", "decline"])
def test_a_human_is_asked_about_all_statements_together(
    company: Path, mode: str, action: Any
) -> None:
    asked: list[str] = []

    async def answer(_: Any, parameters: Any) -> ElicitResult:
        asked.append(parameters.message)
        return ElicitResult(action=action, content={"spend": True})

    async def story(assistant: Assistant) -> None:
        # Each is below the price, and all of them are above.
        batch = {"statements": BATCH, "epsilon": 0.15}
        if action == "accept":
            await assistant.ask("query_batch", **batch)
            await assistant.ask("query_batch", **batch)
        else:
            assert (await assistant.refusal("query_batch", **batch))["sqlstate"] == "57014"
        await assistant.ask("query_batch", statements=born(1970, 1971), epsilon=0.05)
        dear = await assistant.refusal("query_batch", statements=BATCH, epsilon=1)
        assert dear["sqlstate"] == "53400"

    told(story, company, *MANY, "--ask-above", "0.2", mode=mode, elicitation_callback=answer)
    (message,) = asked
    assert "May these 4 statements together spend epsilon = 0.3" in message
    assert message.endswith(";\n\n".join(BATCH))
    assert len(charges(company)) == (2 if action == "accept" else 1)


def test_a_yes_to_a_batch_holds_for_no_other(company: Path) -> None:
    yes = {"approval": ElicitResult(action="accept", content={"spend": True})}

    async def nobody(_: Any, __: Any) -> ElicitResult:
        raise AssertionError

    async def story(assistant: Assistant) -> None:
        session = assistant.client.session

        async def call(statements: list[str], **more: Any) -> CallToolResult | InputRequiredResult:
            called: CallToolResult | InputRequiredResult = await session.call_tool(
                "query_batch", {"statements": statements}, allow_input_required=True, **more
            )
            return called

        first = await call([COUNT, PAY])
        assert isinstance(first, InputRequiredResult)
        for statements in ([PAY, COUNT], [COUNT, PAY, GROUPS], [COUNT, GROUPS]):
            other = await call(statements, input_responses=yes, request_state=first.request_state)
            assert isinstance(other, InputRequiredResult)
        assert charges(company) == []
        again = await call([COUNT, PAY])
        assert isinstance(again, InputRequiredResult)
        paid = await call([COUNT, PAY], input_responses=yes, request_state=again.request_state)
        assert isinstance(paid, CallToolResult)
        assert not paid.is_error

    told(story, company, *MANY, "--ask-above", "0.2", elicitation_callback=nobody)
    assert len(charges(company)) == 1
