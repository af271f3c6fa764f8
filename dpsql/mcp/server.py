"""The SDK's server: calls of tools and reads of resources → replies."""

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
from dpsql.mcp import resources
from dpsql.mcp.approval import ApprovalRequest, Approvals
from dpsql.mcp.calls.corrected_call import Correctable
from dpsql.mcp.error_fields import fault
from dpsql.mcp.spending_limit import SpendingLimit
from dpsql.mcp.statement_queue import StatementQueue
from dpsql.mcp.tool_arguments import (
    DescribeTable,
    Explain,
    ExplainBatch,
    ListTables,
    Query,
    QueryBatch,
    taken,
)
from dpsql.mcp.tool_results import Failed, Fix
from dpsql.mcp.tool_service import ToolService
from dpsql.mcp.tools import INSTRUCTIONS, KINDS

Context = ServerRequestContext[Any]
Result = TypeVar("Result")
_KINDS: Final = {kind.name: kind for kind in KINDS}


class ToolHandlers:
    """Handles clients' requests by `service`, one call after the other in `queue`."""

    def __init__(self, service: ToolService, limit: SpendingLimit, queue: StatementQueue) -> None:
        self._service = service
        self._limit = limit
        self._queue = queue
        self._approvals = Approvals()

    def server(self) -> Server[Any]:
        """The SDK's server with these handlers, for any number of clients."""
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
        return ListToolsResult(tools=[kind.description() for kind in KINDS])

    async def _call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        kind = _KINDS.get(params.name)
        if kind is None:
            known = ", ".join(_KINDS)
            raise MCPError(INVALID_PARAMS, f"there is no tool of that name; there are {known}")
        request: Struct | None = None
        try:
            request = taken(params.arguments, kind.takes)
            about = None
            if isinstance(request, Query | QueryBatch):
                about = await self._approval_request(request)
            if about is not None:
                question = await self._approvals.ask(context, params, about)
                if question is not None:
                    return question
            agreed = None if about is None else about.cost
            return _result(await self._queue.take(self._work(request, agreed)))
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - a client reads fields, never a traceback
            return _result(Failed(fault(error, await self._fix(error, request))), is_error=True)

    async def _list_resources(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        saved = await self._read(lambda: resources.release_resources(self._service))
        return ListResourcesResult(resources=[*resources.RESOURCES, *saved])

    async def _list_templates(
        self, _: Context, __: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def _read_resource(
        self, _: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        read = resources.reader(uri, self._service)
        if read is None:
            raise MCPError(INVALID_PARAMS, "there is no resource of that address")
        text = await self._read(read)
        contents = TextResourceContents(uri=uri, mime_type=resources.JSON, text=text)
        return ReadResourceResult(contents=[contents])

    async def _read(self, read: Callable[[], Result]) -> Result:
        """What `read` returns; its errors become errors of the protocol, which resources have."""
        try:
            return await self._queue.take(read)
        except Exception as error:  # noqa: BLE001 - a client reads fields, never a traceback
            fields = fault(error)
            data = msgspec.to_builtins(fields)
            raise MCPError(INTERNAL_ERROR, fields.message, data) from None

    async def _approval_request(self, request: Query | QueryBatch) -> ApprovalRequest | None:
        """The question that a human has to approve before `request`, None if there is none."""
        if not self._limit.asks_humans:
            return None
        cost = await self._queue.take(lambda: self._service.price_to_ask_about(request))
        return None if cost is None else ApprovalRequest(request, cost, self._limit.status().left)

    def _work(self, request: Struct, agreed: Fraction | None) -> Callable[[], Struct]:
        match request:
            case ListTables():
                return lambda: self._service.tables(request)
            case DescribeTable():
                return lambda: self._service.table(request)
            case Query():
                return lambda: self._service.query(request, agreed)
            case Explain():
                return lambda: self._service.explain(request)
            case QueryBatch():
                return lambda: self._service.query_batch(request, agreed)
            case ExplainBatch():
                return lambda: self._service.explain_batch(request)
            case _:
                return self._service.budget

    async def _fix(self, error: Exception, request: Struct | None) -> Fix | None:
        if not isinstance(error, Error) or not isinstance(request, Correctable):
            return None
        try:
            return await self._queue.take(lambda: self._service.fix(error, request))
        except Exception:  # noqa: BLE001 - the client gets the first error, without a fix
            return None


def _result(value: Struct, *, is_error: bool = False) -> CallToolResult:
    """`value` as fields and, for clients that read no fields, as text."""
    text = msgspec.json.encode(value).decode()
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=msgspec.json.decode(text),
        is_error=is_error,
    )
