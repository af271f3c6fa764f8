"""The SDK's own client before `dpsql mcp`, in this process or in one of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from dpsql.cli.main import commands
from dpsql.cli.mcp.command import mcp as mcp_command
from dpsql.engine.duckdb.failure_cause import causes_hidden
from dpsql.ledger.chain.entry import Charged
from dpsql.mcp.options import Options
from dpsql.mcp.transport import opened_server
from dpsql.schema.load.load import load_schema
from dpsql.session.ledger_access import existing_ledger

Found = TypeVar("Found")

COUNT = "SELECT count(*) AS n FROM staff"
GROUPS = "SELECT department, count(*) AS n FROM staff GROUP BY department"
_MANY = " ".join(f"CROSS JOIN departments d{number}" for number in range(13))
LONG = f"SELECT count(*) FROM staff {_MANY}"
LONG_AND_PUBLIC = f"SELECT count(*) FROM departments {_MANY}"


@dataclass
class Assistant:
    """What a client sees of the server; answers are checked against the tools' schemas."""

    client: Client

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """The fields of an answer."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.structured_content
        return result.structured_content

    async def refusal(self, tool: str, **arguments: Any) -> Any:
        """The fields of an error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, (tool, str(arguments)[:200])
        assert set(result.structured_content) == {"error"}
        return result.structured_content["error"]


Story = Callable[[Assistant], Awaitable[Found]]


def command(schema: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "dpsql.cli", "mcp", str(schema), *options]


def environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}


def told(story: Story[Found], schema: Path, *options: str, **client: Any) -> Found:
    """What `story` returns of a server in this process, by the options of the command line.

    A process of its own takes two seconds to begin. What is a process's own is tried by
    `told_by_process`, and in tests/mcp/test_mcp_transport.py.
    """
    # Below `dpsql`: click remembers by which options a command's help is asked for first.
    above = commands.make_context("dpsql", ["mcp"])
    written = mcp_command.make_context("mcp", [str(schema), *options], parent=above).params

    async def tell() -> Found:
        async with Client(server, **client) as connected:
            await connected.list_tools()
            return await story(Assistant(connected))

    with causes_hidden(), opened_server(Options(**written)) as (server, _):
        return asyncio.run(tell())


def told_by_process(story: Story[Found], schema: Path, *options: str, **client: Any) -> Found:
    """The same of a process; what the server wrote on stderr lies beside the schema."""

    async def tell() -> Found:
        program, *arguments = command(schema, *options)
        parameters = StdioServerParameters(
            command=program, args=arguments, env=environment(), cwd=Path.cwd()
        )
        with (schema.parent / "stderr.txt").open("a", encoding="utf-8") as errors:
            async with Client(stdio_client(parameters, errors), **client) as connected:
                await connected.list_tools()
                return await story(Assistant(connected))

    return asyncio.run(tell())


def charges(schema: Path) -> list[Charged]:
    """Every charge in the ledger of `schema`."""
    with existing_ledger(load_schema(schema)) as ledger:
        entries = () if ledger is None else tuple(ledger.history())
    return [entry.event for entry in entries if isinstance(entry.event, Charged)]
