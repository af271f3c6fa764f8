"""Functions that reveal more than their arguments: the engine, its settings, files, the host.

In a sandbox, where analysts' own statements run, there is little to reveal; these functions are
refused all the same. They are derived from DuckDB's own list of functions, so that a new function
is one of them until it is named here, or DuckDB calls it consistent.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from dpsql.engine.duckdb.constant_evaluation import EngineFunction, engine_functions

_CHANGING: Final = {
    "random",
    "uuid",
    "uuidv4",
    "uuidv7",
    "gen_random_uuid",
    "error",
    "now",
    "today",
    "current_date",
    "current_localtime",
    "current_localtimestamp",
    "get_current_time",
    "get_current_timestamp",
    "transaction_timestamp",
}
"""Functions of randomness and of the clock, which are allowed."""

_TABLES: Final = {
    "range",
    "generate_series",
    "unnest",
    "repeat",
    "repeat_row",
    "json_each",
    "json_tree",
    "summary",
    "histogram",
    "histogram_values",
}
"""Table functions whose rows follow from their arguments, which are allowed."""

_NAMING: Final = {
    "current_catalog",
    "current_database",
    "current_query",
    "current_role",
    "current_schema",
    "current_user",
    "information_schema",
    "session_user",
    "user",
    "pg_catalog",
}
"""Names that are evaluated without parentheses."""

_CONSTANTS: Final = {"version", "get_block_size"}
"""Functions that DuckDB calls consistent, and which reveal the engine all the same."""

_ZONED: Final = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS", "TIME WITH TIME ZONE"}
"""Types of values whose parts and texts depend on the session's zone."""

_PREFIXES: Final = ("duckdb_", "pragma_", "pg_", "sqlite_")


@cache
def introspection_functions() -> frozenset[str]:
    """The names of all functions that reveal more than their arguments, in lower case."""
    known = _CHANGING | _TABLES
    listed = {
        function.name
        for function in engine_functions()
        if function.name not in known and not _of_arguments(function)
    }
    return frozenset(name.casefold() for name in listed | _NAMING | _CONSTANTS)


def is_introspection(word: str) -> bool:
    """Whether `word`, in lower case, is a name of the engine's own, also without parentheses."""
    return word in _NAMING or word.startswith(_PREFIXES)


def _of_arguments(function: EngineFunction) -> bool:
    """Whether DuckDB's list says that the function's value follows from its arguments.

    What takes or makes a time with a zone also depends on the session's zone, which lockdown fixes:
    since 2.0.1 DuckDB calls it consistent within a query only.
    """
    match function.kind:
        case "scalar" | "aggregate" | "window":
            return function.stability == "CONSISTENT" or (
                function.stability == "CONSISTENT_WITHIN_QUERY" and bool(function.types & _ZONED)
            )
        case "macro":
            return function.schema == "main"
        case _:
            return False
