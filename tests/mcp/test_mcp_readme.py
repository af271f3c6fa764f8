"""The README's command and its client's configuration are one, and it is served as written."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from pathlib import Path

from assistant import COUNT, charges, environment
from mcp import Client, StdioServerParameters
from readme import README


def test_the_configuration_in_the_readme_starts_the_command_in_it(company: Path) -> None:
    section = README.read_text(encoding="utf-8").split("## Ask from an assistant")[1]
    (written,) = re.findall(r"```sh\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    (configured,) = re.findall(r"```json\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
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
