"""Budget, tables and saved releases as resources, which a client reads without calling a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote, unquote

import msgspec
from mcp.types import Resource, ResourceTemplate

from dpsql.errors import UnknownRelease
from dpsql.mcp.tool_arguments import DescribeTable, ListTables
from dpsql.mcp.tool_results import Tables
from dpsql.mcp.tool_service import ToolService

JSON: Final = "application/json"
_TABLE: Final = "dpsql://tables/"
_RELEASE: Final = "dpsql://releases/"

RESOURCES: Final = (
    Resource(
        uri="dpsql://budget",
        name="budget",
        title="Budget",
        description="What was spent and what is left.",
        mime_type=JSON,
    ),
    Resource(
        uri="dpsql://tables",
        name="tables",
        title="Tables",
        description="The tables that statements may name.",
        mime_type=JSON,
    ),
    Resource(
        uri="dpsql://releases",
        name="releases",
        title="Releases and synopses",
        description="Tables that were paid for and are kept: asking them is free.",
        mime_type=JSON,
    ),
)
TEMPLATES: Final = (
    ResourceTemplate(
        uri_template=f"{_TABLE}{{name}}",
        name="table",
        title="Table",
        description="A table's columns with their declared domains.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template=f"{_RELEASE}{{name}}",
        name="release",
        title="Release or synopsis",
        description="What a kept table was made of, when, and at what cost.",
        mime_type=JSON,
    ),
)


def reader(uri: str, service: ToolService) -> Callable[[], str] | None:
    """A function that reads the resource `uri` as JSON; None if there is no such resource."""
    match uri:
        case "dpsql://budget":
            return lambda: _text(service.budget())
        case "dpsql://tables":
            return lambda: _text(_all_tables(service))
        case "dpsql://releases":
            return lambda: _text(service.releases())
        case _ if uri.startswith(_TABLE):
            return lambda: _text(service.table(DescribeTable(unquote(uri.removeprefix(_TABLE)))))
        case _ if uri.startswith(_RELEASE):
            return lambda: _text(_release(service, unquote(uri.removeprefix(_RELEASE))))
        case _:
            return None


def release_resources(service: ToolService) -> list[Resource]:
    """A resource for each saved release and synopsis that there is now."""
    return [
        Resource(
            uri=_RELEASE + quote(str(saved["name"]), safe=""),
            name=str(saved["name"]),
            description=f"A {saved['kind']} that {saved['owner']} keeps.",
            mime_type=JSON,
        )
        for saved in service.releases()
    ]


def _all_tables(service: ToolService) -> Tables:
    batch = service.tables(ListTables())
    tables = list(batch.tables)
    while batch.more:
        batch = service.tables(ListTables(offset=len(tables)))
        tables += batch.tables
    return Tables(batch.dataset, tables, 0)


def _release(service: ToolService, name: str) -> dict[str, object]:
    for saved in service.releases():
        if saved["name"] == name.casefold():
            return saved
    raise UnknownRelease(f"there is no release {name[:100]}")


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
