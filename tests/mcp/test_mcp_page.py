"""The page's command and its client's configuration are one, and it is served as written."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path

from assistant import COUNT, charges, environment
from documentation.blocks import blocks
from documentation.pages import DOCS
from mcp import Client, StdioServerParameters


def test_the_configuration_in_the_page_starts_the_command_in_it(company: Path) -> None:
    page = DOCS / "mcp.md"
    section = page.read_text(encoding="utf-8")
    (written,) = (block.text for block in blocks(page) if block.language == "sh")
    (configured,) = (block.text for block in blocks(page) if block.language == "json")
    (server,) = json.loads(configured)["mcpServers"].values()
    assert shlex.split(written) == [server["command"], *server["args"]]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dpsql.cli", *server["args"]],
        env=environment(),
        cwd=company.parent,
    )

    async def ask() -> None:
        async with Client(parameters) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {name for name in names if f"`{name}`" in section} == names
            found = await client.call_tool("query", {"sql": COUNT})
            assert found.structured_content["budget"]["server"]["max_cost"] == 0.1

    asyncio.run(ask())
    assert [charge.analyst for charge in charges(company)] == ["assistant"]
