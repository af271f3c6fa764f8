"""The SDK's server: names of tools and resources → what they answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from typing import Any, Final, TypeVar

import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)
from msgspec import Struct

from dpsql.errors import Error
from dpsql.mcp import resource
from dpsql.mcp.approval import Approvals, Asking
from dpsql.mcp.argument import DescribeTable, Explain, ListTables, Query, taken
from dpsql.mcp.desk import Desk
from dpsql.mcp.failure import fault
from dpsql.mcp.purse import Purse
from dpsql.mcp.reply import Failed, Fix
from dpsql.mcp.tool import INSTRUCTIONS, KINDS
from dpsql.mcp.turn import Turns

Context = ServerRequestContext[Any]
Found = TypeVar("Found")
_KINDS: Final = {kind.name: kind for kind in KINDS}


class Door:
    """What clients ask of `desk`, each call in its turn."""

    def __init__(self, desk: Desk, purse: Purse, turns: Turns) -> None:
        self._desk = desk
        self._purse = purse
        self._turns = turns
        self._approvals = Approvals()

    def server(self) -> Server[Any]:
        """A server that any number of clients may talk to."""
        return Server(
            "dpsql",
            version=version("dpsql"),
            title="dpsql",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _list_tools(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[kind.told() for kind in KINDS])

    async def _call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        kind = _KINDS.get(params.name)
        if kind is None:
            known = ", ".join(_KINDS)
            raise MCPError(INVALID_PARAMS, f"there is no tool of that name; there are {known}")
        asked: Struct | None = None
        try:
            asked = taken(params.arguments, kind.takes)
            about = await self._asked(asked) if isinstance(asked, Query) else None
            if about is not None:
                question = await self._approvals.ask(context, params, about)
                if question is not None:
                    return question
            agreed = None if about is None else about.cost
            return _result(await self._turns.take(self._work(asked, agreed)))
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - a client reads fields, never a traceback
            return _result(Failed(fault(error, await self._fix(error, asked))), is_error=True)

    async def _list_resources(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        kept = await self._read(lambda: resource.kept(self._desk))
        return ListResourcesResult(resources=[*resource.RESOURCES, *kept])

    async def _list_templates(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=list(resource.TEMPLATES))

    async def _read_resource(
        self, _: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        read = resource.reader(uri, self._desk)
        if read is None:
            raise MCPError(INVALID_PARAMS, "there is no resource of that address")
        text = await self._read(read)
        found = TextResourceContents(uri=uri, mime_type=resource.JSON, text=text)
        return ReadResourceResult(contents=[found])

    async def _read(self, read: Callable[[], Found]) -> Found:
        """What a resource holds; resources have errors of the protocol alone."""
        try:
            return await self._turns.take(read)
        except Exception as error:  # noqa: BLE001 - the same
            told = fault(error)
            data = msgspec.to_builtins(told)
            raise MCPError(INTERNAL_ERROR, told.message, data) from None

    async def _asked(self, asked: Query) -> Asking | None:
        """What a human has to agree to before `asked`."""
        if not self._purse.asks_humans:
            return None
        cost = await self._turns.take(lambda: self._desk.price_to_ask_about(asked))
        return None if cost is None else Asking(asked, cost, self._purse.told().left)

    def _work(self, asked: Struct, agreed: Fraction | None) -> Callable[[], Struct]:
        match asked:
            case ListTables():
                return lambda: self._desk.tables(asked)
            case DescribeTable():
                return lambda: self._desk.table(asked)
            case Query():
                return lambda: self._desk.query(asked, agreed)
            case Explain():
                return lambda: self._desk.explain(asked)
            case _:
                return self._desk.budget

    async def _fix(self, error: Exception, asked: Struct | None) -> Fix | None:
        if not isinstance(error, Error) or not isinstance(asked, Explain | Query):
            return None
        try:
            return await self._turns.take(lambda: self._desk.fix(error, asked))
        except Exception:  # noqa: BLE001 - the first error is what is told
            return None


def _result(found: Struct, *, is_error: bool = False) -> CallToolResult:
    """The same as fields and, for clients that read no fields, as text."""
    text = msgspec.json.encode(found).decode()
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=msgspec.json.decode(text),
        is_error=is_error,
    )
