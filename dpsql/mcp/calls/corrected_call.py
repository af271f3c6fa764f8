"""Calls with the correction of an error, of which none was tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from dpsql.errors import Error
from dpsql.mcp.error_fields import corrections
from dpsql.mcp.tool_arguments import Explain, ExplainBatch, Query, QueryBatch
from dpsql.mcp.tool_results import Fix

Correctable: TypeAlias = Explain | Query | ExplainBatch | QueryBatch


def corrections_of(error: Error, request: Correctable) -> Iterator[Fix]:
    """Arguments that `request` may have instead, by the hint of `error`.

    Of a batch it is the statement that the error is of which is corrected.
    """
    if isinstance(request, Explain | Query):
        yield from (one for one in corrections(error, request.sql) if one.sql != request.sql)
        return
    number, statements = error.statement, request.statements
    sql = "" if number is None else statements[number - 1]
    for one in corrections(error, sql):
        if not isinstance(one.sql, str):
            yield one
        elif number is not None and one.sql != sql:
            yield Fix(statements=[*statements[: number - 1], one.sql, *statements[number:]])


def corrected(request: Correctable, fix: Fix) -> Explain | ExplainBatch:
    """What `request` would cost with what `fix` has instead; ε and an error don't go together."""
    changed: dict[str, object] = msgspec.to_builtins(fix)
    changed.pop("max_cost", None)
    epsilon = None if "max_error" in changed else request.epsilon
    max_error = None if "epsilon" in changed else request.max_error
    others: dict[str, object] = {"epsilon": epsilon, "max_error": max_error}
    if isinstance(request, Explain | Query):
        return msgspec.convert({"sql": request.sql} | others | changed, Explain)
    return msgspec.convert({"statements": request.statements} | others | changed, ExplainBatch)
