from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from assistant import COUNT, GROUPS, Assistant, charges, told, told_by_process
from mcp.types import ReadResourceResult, TextContent, TextResourceContents

from dpsql.mcp.tool_arguments import json_schema
from dpsql.mcp.tool_results import Failed
from dpsql.mcp.tools import KINDS


def text_of(resource: ReadResourceResult) -> str:
    content = resource.contents[0]
    assert isinstance(content, TextResourceContents)
    return content.text


def test_only_the_tool_that_spends_says_it_changes_something(company: Path) -> None:
    async def story(assistant: Assistant) -> Any:
        return (await assistant.client.list_tools()).tools

    tools = told(story, company)
    assert {tool.name: tool.annotations.read_only_hint for tool in tools} == {
        "list_tables": True,
        "describe_table": True,
        "explain": True,
        "budget": True,
        "query": False,
        "explain_batch": True,
        "query_batch": False,
    }
    (query,) = (tool for tool in tools if tool.name == "query")
    assert query.annotations.destructive_hint
    assert "SPENDS" in query.description
    for tool in tools:
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)


def test_tables_and_columns_are_those_of_the_schema(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        found = await assistant.ask("list_tables")
        assert [table["name"] for table in found["tables"]] == [
            "staff",
            "sick_leave",
            "departments",
        ]
        assert [table["is_public"] for table in found["tables"]] == [False, False, True]
        assert found["more"] == 0
        some = await assistant.ask("list_tables", search="SICK")
        assert [table["name"] for table in some["tables"]] == ["sick_leave"]
        assert (await assistant.ask("list_tables", offset=3))["tables"] == []
        staff = await assistant.ask("describe_table", table="staff")
        assert staff["rows_of"] == "person"
        assert staff["key"] == ["person_id"]
        columns = {column["name"]: column for column in staff["columns"]}
        assert columns["salary"] == {"name": "salary", "type": "INTEGER", "bounds": [0, 150_000]}
        assert columns["department"]["references"] == "departments.department"
        leave = await assistant.ask("describe_table", table="sick_leave")
        assert leave["limits"] == {"groups": 4, "rows_per_group": 3, "rows": 64}
        reasons = {column["name"]: column for column in leave["columns"]}["reason"]
        assert reasons["values"] == ["accident", "flu", "stress", "other"]
        error = await assistant.refusal("describe_table", table="nobody")
        assert error["sqlstate"] == "42P01"

    told(story, company)
    assert charges(company) == []


def test_explaining_charges_nothing_and_makes_no_ledger(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        found = await assistant.ask("explain", sql=GROUPS)
        assert 0.49 < found["cost"]["epsilon"] <= 0.5
        assert found["allowed"]
        assert found["noise"][0]["error_95"] > 0
        assert "Scan(staff" in found["text"]
        less = await assistant.ask("explain", sql=GROUPS, epsilon=0.1)
        assert less["noise"][0]["error_95"] > found["noise"][0]["error_95"]
        chosen = await assistant.ask("explain", sql=GROUPS, max_error=100)
        assert chosen["noise"][0]["error_95"] <= 100
        assert (await assistant.ask("explain", sql="SELECT count(*) FROM departments"))[
            "cost"
        ] is None
        assert not (await assistant.ask("explain", sql=GROUPS, epsilon=1))["allowed"]

    told(story, company)
    assert not (company.parent / "ledger.db").exists()


def test_a_query_is_charged_once_however_often_it_is_asked(company: Path) -> None:
    async def story(assistant: Assistant) -> Any:
        first = await assistant.ask("query", sql=GROUPS)
        again = await assistant.ask("query", sql=GROUPS)
        assert [column["name"] for column in first["columns"]] == ["department", "n", "n ±"]
        assert first["row_count"] == len(first["rows"]) == 6
        assert again["rows"] == first["rows"]
        assert again["cost"]["stored"]
        assert again["cost"]["epsilon"] == 0
        assert again["budget"] == first["budget"]
        assert first["budget"]["server"]["spent"] == first["cost"]["epsilon"]
        return first

    first = told(story, company)
    (charge,) = charges(company)
    assert charge.query == GROUPS
    assert charge.analyst == "analyst"
    assert first["cost"]["receipt"] is not None


def test_an_answer_that_was_paid_for_before_is_free_in_another_process(company: Path) -> None:
    async def story(assistant: Assistant) -> Any:
        return await assistant.ask("query", sql=GROUPS)

    assert told(story, company)["rows"] == told_by_process(story, company)["rows"]
    assert len(charges(company)) == 1


def test_rows_are_read_on_without_another_charge(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        whole = await assistant.ask("query", sql=GROUPS)
        parts = [await assistant.ask("query", sql=GROUPS, max_rows=4, offset=n) for n in (0, 4, 8)]
        assert [row for part in parts for row in part["rows"]] == whole["rows"]
        assert {part["row_count"] for part in parts} == {6}

    told(story, company)
    assert len(charges(company)) == 1


def test_public_tables_are_free_and_exact(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        found = await assistant.ask("query", sql="SELECT department FROM departments ORDER BY 1")
        assert found["row_count"] == 6
        assert found["cost"]["epsilon"] == 0
        assert [column["name"] for column in found["columns"]] == ["department"]

    told(story, company)
    assert charges(company) == []


def test_a_refusal_says_where_and_a_fix_that_can_be_applied(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for sql, sqlstate, position, fixed in (
            ("SELECT count(*) AS n FROM staf", "42P01", 27, COUNT),
            ("SELECT count(*) FROM staff WHERE bron > 1980", "42703", 34, "bron"),
            ("SELECT * FROM staff", "42501", 8, "SELECT count(*) FROM staff"),
        ):
            error = await assistant.refusal("query", sql=sql)
            assert error["sqlstate"] == sqlstate
            assert error["position"] == position
            assert error["hint"]
            if fixed == "bron":
                assert error["fix"]["sql"] == sql.replace("bron", "born")
            else:
                assert error["fix"]["sql"] == fixed
            assert (await assistant.ask("explain", **error["fix"]))["cost"]["epsilon"] > 0
        unwritten = await assistant.refusal("query", sql="count 1 of")
        assert unwritten["sqlstate"] == "42601"
        assert "fix" not in unwritten

    told(story, company)
    assert charges(company) == []


def test_an_answer_is_kept_as_a_table_that_is_free_to_ask(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        kept = await assistant.ask("query", sql=f"CREATE RELEASE by_department AS {GROUPS}")
        assert kept["cost"]["epsilon"] > 0
        asked = await assistant.ask("query", sql="SELECT max(n) AS most FROM by_department")
        assert asked["cost"]["epsilon"] == 0
        read = await assistant.client.read_resource("dpsql://releases/by_department")
        assert json.loads(text_of(read))["owner"] == "analyst"
        listed = [str(r.uri) for r in (await assistant.client.list_resources()).resources]
        assert "dpsql://releases/by_department" in listed
        tables = (await assistant.ask("list_tables"))["tables"]
        assert tables[-1]["name"] == "by_department"
        for sql in (
            f"CREATE OR REPLACE RELEASE by_department AS {COUNT}",
            "DROP RELEASE by_department",
            "CALIBRATE staff FOR 0.1",
        ):
            assert (await assistant.refusal("query", sql=sql))["sqlstate"] == "0A000"

    told(story, company)
    assert len(charges(company)) == 1


def test_resources_say_what_tools_say(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for uri, tool, arguments in (
            ("dpsql://budget", "budget", {}),
            ("dpsql://tables", "list_tables", {}),
            ("dpsql://tables/staff", "describe_table", {"table": "staff"}),
        ):
            read = await assistant.client.read_resource(uri)
            assert json.loads(text_of(read)) == await assistant.ask(tool, **arguments)
        releases = await assistant.client.read_resource("dpsql://releases")
        assert json.loads(text_of(releases)) == []

    told(story, company)


def test_the_text_of_an_answer_is_its_fields(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        for sql in ("SELECT 1 AS one", "SELECT * FROM staff"):
            result = await assistant.client.call_tool("query", {"sql": sql})
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert json.loads(content.text) == result.structured_content
            if result.is_error:
                jsonschema.validate(result.structured_content, json_schema(Failed))

    told(story, company)


def test_every_tool_has_a_title_and_says_what_it_costs() -> None:
    for kind in KINDS:
        assert kind.title
        assert "Free" in kind.text or kind.spends
