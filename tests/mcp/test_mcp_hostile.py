"""Arguments that nobody means: each is an error with fields, and the next call is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assistant import COUNT, Assistant, charges, told, told_by_process
from mcp.shared.exceptions import MCPError

NESTED: list[Any] = []
for _ in range(60):
    NESTED = [NESTED]

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("query", {}),
    ("query", {"sql": None}),
    ("query", {"sql": 5}),
    ("query", {"sql": [COUNT]}),
    ("query", {"sql": {"text": COUNT}}),
    ("query", {"sql": NESTED}),
    ("query", {"sql": "x" * 1_000_000}),
    ("query", {"sql": "SELECT " + "(" * 40_000}),
    ("query", {"sql": "\0"}),
    ("query", {"sql": "SELECT count(*)\0 FROM staff"}),
    ("query", {"sql": ""}),
    ("query", {"sql": "\u202e;\u0007"}),
    ("query", {"sql": f"{COUNT}; {COUNT}"}),
    ("query", {"sql": "ATTACH '/etc/passwd' AS p"}),
    ("query", {"sql": "COPY staff TO '/tmp/staff.csv'"}),
    ("query", {"sql": "SELECT * FROM read_text('/etc/passwd')"}),
    ("query", {"sql": "INSTALL httpfs"}),
    ("query", {"sql": "PRAGMA database_list"}),
    ("query", {"sql": "EXPLAIN SELECT 1"}),
    ("query", {"sql": COUNT, "epsilon": "1"}),
    ("query", {"sql": COUNT, "epsilon": 0}),
    ("query", {"sql": COUNT, "epsilon": -1}),
    ("query", {"sql": COUNT, "epsilon": 1e300}),
    ("query", {"sql": COUNT, "epsilon": 1e-300}),
    ("query", {"sql": COUNT, "epsilon": True}),
    ("query", {"sql": COUNT, "epsilon": 0.1, "max_error": 10}),
    ("query", {"sql": COUNT, "max_cost": -1}),
    ("query", {"sql": COUNT, "max_rows": 10**9}),
    ("query", {"sql": COUNT, "max_rows": 0}),
    ("query", {"sql": COUNT, "offset": -1}),
    ("query", {"sql": COUNT, "offset": 0.5}),
    ("query", {"sql": COUNT, "analyst": "somebody else"}),
    ("query", {"sql": COUNT, "ceiling": 10}),
    ("query_batch", {}),
    ("query_batch", {"statements": []}),
    ("query_batch", {"statements": COUNT}),
    ("query_batch", {"statements": [COUNT, None]}),
    ("query_batch", {"statements": [[COUNT]]}),
    ("query_batch", {"statements": [COUNT] * 51}),
    ("query_batch", {"statements": [""]}),
    ("query_batch", {"statements": [COUNT, "\0"]}),
    ("query_batch", {"statements": [f"{COUNT}; {COUNT}"]}),
    ("query_batch", {"statements": [COUNT, "x" * 1_000_000]}),
    ("query_batch", {"statements": [COUNT], "epsilon": 0.1, "max_error": 10}),
    ("query_batch", {"statements": [COUNT], "epsilon": 1e-300}),
    ("query_batch", {"statements": [COUNT], "max_cost": 1e-300}),
    ("query_batch", {"statements": [COUNT], "batch_ceiling": 10}),
    ("explain_batch", {"statements": [COUNT], "max_cost": 1}),
    ("explain_batch", {"statements": [COUNT, "SHOW dpsql.budget"]}),
    ("explain", {"sql": "SHOW dpsql.budget"}),
    ("explain", {"sql": "\0"}),
    ("describe_table", {"table": "x" * 100_000}),
    ("describe_table", {"table": '"'}),
    ("describe_table", {"table": "information_schema.tables"}),
    ("list_tables", {"offset": 10**30}),
    ("budget", {"analyst": "somebody else"}),
]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_nobody_means_is_an_error_and_costs_nothing(company: Path, mode: str) -> None:
    async def story(assistant: Assistant) -> None:
        for tool, arguments in WRONG:
            error = await assistant.refusal(tool, **arguments)
            assert len(error["sqlstate"]) == 5, (tool, str(arguments)[:80])
            assert error["sqlstate"] != "XX000", (tool, str(arguments)[:80], error)
            assert error["message"]
            assert len(str(error)) < 3_000
            assert "Traceback" not in str(error)
        assert (await assistant.ask("budget"))["server"]["spent"] == 0
        assert (await assistant.ask("query", sql=COUNT))["row_count"] == 1

    told_by_process(story, company, mode=mode)
    assert len(charges(company)) == 1
    assert "Traceback" not in (company.parent / "stderr.txt").read_text()


def test_what_isnt_there_is_an_error_of_the_protocol(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        with pytest.raises(MCPError, match="there is no tool of that name"):
            await assistant.client.call_tool("drop_everything", {})
        for uri in (
            "dpsql://",
            "dpsql://tables/nobody",
            "dpsql://releases/none",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError, match="there is no"):
                await assistant.client.read_resource(uri)
        assert (await assistant.ask("list_tables"))["dataset"] == "demo"

    told(story, company)
