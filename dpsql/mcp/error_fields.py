"""Errors as fields for a program, with a correction that can be applied."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from dpsql.dbapi.suggested_fix import proposal
from dpsql.errors import Error, InternalError
from dpsql.mcp.tool_results import Fault, Fix

_LOG: Final = logging.getLogger("dpsql.mcp")

_SET: Final = re.compile(r"SET dpsql\.(\w+) = ([^\s,;]+)")
_OPTION: Final = re.compile(r"OPTIONS \((\w+) = ([^\s,)]+)\)")
_ARGUMENTS: Final = ("epsilon", "max_error", "max_cost")


def fault(error: BaseException, fix: Fix | None = None) -> Fault:
    """The fields of `error` for an analyst, with `fix` as its correction.

    Of an exception that isn't dpsql's own only its class is named, and an error whose cause is for
    the owner alone has its text `instead`; the cause goes to the log.
    """
    if not isinstance(error, Error):
        message = f"dpsql failed by a fault of its own ({type(error).__name__})"
        _LOG.error(message)
        error = InternalError(message)
    if error.instead:
        _LOG.error("%s", error)
        charged = f"{error.instead}; {error.charge}" if error.charge else error.instead
        return Fault(error.sqlstate, charged, hint=error.instead_hint)
    return Fault(
        error.sqlstate,
        error.message,
        error.detail,
        _SET.sub(_as_argument, error.hint),
        error.position,
        None if error.at is None else error.at.end + 1,
        fix,
        error.statement,
    )


def corrections(error: Error, sql: str) -> Iterator[Fix]:
    """Corrections of `sql` or of the call's arguments, by the hint of `error`; none was tried."""
    text = proposal(error, sql)
    if text is not None:
        yield Fix(sql=text.rstrip(";"))
    for name, value in _SET.findall(error.hint):
        if name in _ARGUMENTS and _is_number(value):
            yield msgspec.convert({name: float(value)}, Fix)
            # A synopsis has an ε of its own, in its WITH list.
            yield Fix(sql=_changed(sql, "with", name, value))
    for name, value in _OPTION.findall(error.hint):
        yield Fix(sql=_changed(sql, "options", name, value))


def _as_argument(match: re.Match[str]) -> str:
    """A hint's SET as an argument of the tool, or as an option of the statement: SET is refused."""
    name, value = match.groups()
    if name not in _ARGUMENTS:
        return f"end the statement with OPTIONS ({name} = {value})"
    return f"leave {name} out" if value == "DEFAULT" else f"call it with {name} = {value}"


def _changed(sql: str, behind: str, name: str, value: str) -> str:
    """`sql` with another `value` of `name` in the list that follows the last word `behind`."""
    start = sql.lower().rfind(behind)
    pattern = rf"(?i)\b{re.escape(name)}\s*=\s*[^\s,)]+"
    return sql[:start] + re.sub(pattern, f"{name} = {value}", sql[start:]) if start >= 0 else sql


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
