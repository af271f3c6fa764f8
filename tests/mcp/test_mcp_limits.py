from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from assistant import COUNT, GROUPS, Assistant, charges, told

from dpsql.errors import ExecutionFailed, OverTarget
from dpsql.mcp.options import Options, WrongOptions, check
from dpsql.mcp.spending_limit import SpendingLimit, default_epsilon, spending_limit_of
from dpsql.mcp.tool_arguments import Query, QueryBatch
from dpsql.mcp.tool_service import ToolService
from dpsql.report.budget import read_budget
from dpsql.schema.load.load import load_schema
from dpsql.session.run.execution import Execution
from dpsql.session.session import Session


def born(year: int) -> str:
    return f"SELECT count(*) AS n FROM staff WHERE born > {year}"


DEAR: list[tuple[str, dict[str, Any]]] = [
    (COUNT, {"epsilon": 0.5}),
    (COUNT, {"epsilon": 0.5, "max_cost": 3}),
    (f"{COUNT} OPTIONS (epsilon = 0.5)", {}),
    (f"{COUNT} OPTIONS (epsilon = 0.5, max_cost = 3)", {}),
    (f"{COUNT} OPTIONS (epsilon = 0.5, max_cost = DEFAULT)", {}),
    (f"CREATE RELEASE mine AS {COUNT} OPTIONS (epsilon = 0.5)", {}),
    ("CREATE SYNOPSIS rough ON SELECT department FROM staff WITH (epsilon = 0.5)", {}),
    (f"CREATE DASHBOARD board AS ({COUNT}) WITH (epsilon = 0.5)", {}),
    ("CREATE ALERT many WHEN count(*) > 5 FROM staff WITH (epsilon = 0.5)", {}),
    ("DECIDE AMONG salary AS a, 50 AS b FROM staff BY department", {"epsilon": 0.5}),
    (COUNT, {"max_error": 3}),
]


def test_no_statement_costs_more_than_the_server_allows(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for sql, arguments in DEAR:
            before = (await assistant.ask("budget"))["server"]["spent"]
            error = await assistant.refusal("query", sql=sql, **arguments)
            assert error["sqlstate"] == "53400"
            assert "no more than 0.1 may be spent on it here" in error["message"]
            assert (await assistant.ask("budget"))["server"]["spent"] == before
            again = {"sql": sql, **arguments, **error["fix"]}
            if "epsilon" in error["fix"]:
                again.pop("max_error", None)
            assert (await assistant.ask("query", **again))["cost"]["epsilon"] <= 0.1

    told(story, company, "--max-cost", "0.1", "--max-total", "3")
    assert 0 < len(charges(company)) <= len(DEAR)


def test_a_query_spends_no_more_by_default_than_a_statement_may(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        assert (await assistant.ask("budget"))["epsilon"] == 0.1
        assert 0.09 < (await assistant.ask("query", sql=COUNT))["cost"]["epsilon"] <= 0.1

    told(story, company, "--max-cost", "0.1")


def test_settings_hold_for_no_other_statement(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        error = await assistant.refusal("query", sql="SET dpsql.max_cost = 3")
        assert error["sqlstate"] == "22023"
        assert "OPTIONS (max_cost = 3)" in error["hint"]
        assert (await assistant.refusal("query", sql=COUNT, max_cost=0.01))["sqlstate"] == "53400"
        assert (await assistant.ask("query", sql=COUNT, epsilon=0.2))["cost"]["epsilon"] <= 0.2
        assert (await assistant.ask("query", sql=born(1980)))["cost"]["epsilon"] > 0.4

    told(story, company)


@pytest.mark.parametrize("accounting", ["pure", "zcdp", "gdp"])
def test_all_statements_together_cost_no_more_than_the_server_allows(
    company: Path, accounting: str
) -> None:
    text = company.read_text()
    delta = ", delta: 1.0e-6" if accounting != "pure" else ""
    company.write_text(
        text.replace(
            "{epsilon: 3, delta: 1.0e-6}", f"{{epsilon: 3{delta}, accounting: {accounting}}}"
        )
    )

    async def story(assistant: Assistant) -> int:
        answered = 0
        for year in range(1950, 1990):
            result = await assistant.client.call_tool("query", {"sql": born(year)})
            if result.is_error:
                error = result.structured_content["error"]
                assert error["sqlstate"] == "53400"
                break
            answered += 1
        server = (await assistant.ask("budget"))["server"]
        assert server["spent"] <= 0.5
        assert (await assistant.ask("budget"))["queries_left"] == 0
        assert (await assistant.ask("query", sql=born(1950)))["cost"]["stored"]
        return answered

    answered = told(story, company, "--max-cost", "0.125", "--max-total", "0.5")
    assert len(charges(company)) == answered
    assert answered == 4 if accounting == "pure" else answered > 4


def test_without_limits_a_fifth_of_what_is_left_may_be_spent(company: Path) -> None:
    session = Session(company)
    purse = spending_limit_of(Options(company), session)
    schema, budget = session.schema, read_budget(session.schema, "analyst", session.default_epsilon)
    session.close()
    assert purse.ceiling() == schema.per_query.epsilon
    assert purse.queries_left(schema.per_query.epsilon) == budget.queries_left // 5


def test_a_spent_budget_is_an_error_of_its_own_and_stored_answers_stay(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        await assistant.ask("query", sql=COUNT, epsilon=3)
        error = await assistant.refusal("query", sql=born(1980), epsilon=2)
        assert error["sqlstate"] == "53400"
        assert "not enough budget is left" in error["message"]
        found = await assistant.ask("query", sql=COUNT, epsilon=3)
        assert found["cost"]["stored"]
        assert found["budget"]["queries_left"] == 0

    text = company.read_text()
    company.write_text(text.replace("{epsilon: 0.5}", "{epsilon: 0.5, max_epsilon: 3}"))
    told(story, company, "--max-cost", "3", "--max-total", "9")
    assert len(charges(company)) == 1


def test_an_analysts_own_cap_outlasts_the_server(company: Path) -> None:
    company.write_text(company.read_text() + "analysts: {assistant: {epsilon: 0.5}}\n")

    async def story(assistant: Assistant) -> None:
        await assistant.ask("query", sql=COUNT)

    async def another(assistant: Assistant) -> None:
        assert (await assistant.refusal("query", sql=GROUPS))["sqlstate"] == "53400"
        batch = {"statements": [GROUPS, born(1980)], "epsilon": 0.1}
        assert (await assistant.refusal("query_batch", **batch))["sqlstate"] == "53400"
        assert (await assistant.ask("budget"))["server"]["spent"] == 0

    told(story, company, "--analyst", "assistant", "--max-total", "2")
    told(another, company, "--analyst", "assistant", "--max-total", "2")
    assert [charge.analyst for charge in charges(company)] == ["assistant"]


class Broken(Execution):
    """Its engine fails, once a statement was charged."""

    def run(self, *_: object) -> dict[str, pa.Table]:
        raise ExecutionFailed


def desk_of(
    path: Path,
    engines: type[Execution],
    charged: Callable[[], bool],
    max_total: float,
    ask_above: float | None = None,
) -> tuple[ToolService, SpendingLimit]:
    options = Options(path, max_total=max_total, ask_above=ask_above)
    schema = load_schema(path)
    execution = engines(schema, lambda _: None)
    epsilon = default_epsilon(options, schema)
    session = Session(schema, epsilon=epsilon, execution=execution)
    purse = spending_limit_of(options, session)
    return ToolService(session, purse, charged), purse


def test_a_statement_that_was_charged_and_failed_has_spent(company: Path) -> None:
    desk, purse = desk_of(company, Broken, lambda: True, max_total=0.7)
    with pytest.raises(ExecutionFailed):
        desk.query(Query(COUNT))
    assert 0.49 < purse.status().spent <= 0.5
    with pytest.raises(OverTarget):
        desk.query(Query(born(1980)))
    desk.close()
    assert len(charges(company)) == 1


def test_a_batch_that_was_charged_and_failed_has_spent(company: Path) -> None:
    desk, purse = desk_of(company, Broken, lambda: True, max_total=2)
    with pytest.raises(ExecutionFailed):
        desk.query_batch(QueryBatch([COUNT, born(1980)]))
    assert 0.5 < purse.status().spent <= 1
    desk.close()
    assert len(charges(company)) == 1


def test_what_nobody_was_asked_about_costs_no_more_than_that(company: Path) -> None:
    """Prices may change between the question and the statement."""
    desk, purse = desk_of(company, Execution, lambda: False, max_total=2, ask_above=0.2)
    for agreed in (None, Fraction(1, 4)):
        with pytest.raises(OverTarget):
            desk.query(Query(COUNT), agreed)
    assert purse.status().spent == 0
    cost = desk.price_to_ask_about(Query(COUNT))
    assert cost is not None
    assert desk.query(Query(COUNT), cost).row_count == 1
    assert desk.price_to_ask_about(Query(COUNT)) is None
    for agreed in (None, Fraction(1, 4)):
        with pytest.raises(OverTarget):
            desk.query_batch(QueryBatch([COUNT, GROUPS, born(1980)]), agreed)
    desk.close()


def test_what_others_spend_meanwhile_isnt_taken_from_more_than_was_allowed(company: Path) -> None:
    desk, purse = desk_of(company, Execution, lambda: True, max_total=2)
    desk.close()
    purse.spend_up_to(Fraction(100), Fraction(1, 2))
    assert 0.49 < purse.status().spent <= 0.5
    purse.spend_up_to(Fraction(-1), Fraction(1, 2))
    assert purse.status().spent <= 0.5
    before = purse.status().spent
    purse.spend_up_to(None, Fraction(1, 2))
    assert purse.status().spent > before


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_cost": 0.0}, "--max-cost"),
        ({"epsilon": 0.5, "max_cost": 0.1}, "--epsilon"),
        ({"max_cost": float("nan")}, "--max-cost"),
        ({"max_total": float("inf")}, "--max-total"),
        ({"max_total": -1.0}, "--max-total"),
        ({"ask_above": -1.0}, "--ask-above"),
        ({"statement_seconds": 0.0}, "--statement-seconds"),
        ({"statement_seconds": float("nan")}, "--statement-seconds"),
        ({"http": 70_000}, "--http"),
    ],
)
def test_an_option_that_bounds_nothing_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(WrongOptions, match=said):
        check(Options(Path("schema.yaml"), **wrong))
