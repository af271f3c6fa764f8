"""Budget, tables and kept tables as resources: what a client may read without calling a tool."""

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
    """What reads the resource, as JSON; None where there is none of that address."""
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
    """The kept tables that there are now."""
    return [
        Resource(
            uri=_RELEASE + quote(str(found["name"]), safe=""),
            name=str(found["name"]),
            description=f"A {found['kind']} that {found['owner']} keeps.",
            mime_type=JSON,
        )
        for found in service.releases()
    ]


def _all_tables(service: ToolService) -> Tables:
    found = service.tables(ListTables())
    tables = list(found.tables)
    while found.more:
        found = service.tables(ListTables(offset=len(tables)))
        tables += found.tables
    return Tables(found.dataset, tables, 0)


def _release(service: ToolService, name: str) -> dict[str, object]:
    for found in service.releases():
        if found["name"] == name.casefold():
            return found
    raise UnknownRelease(f"there is no release {name[:100]}")


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
