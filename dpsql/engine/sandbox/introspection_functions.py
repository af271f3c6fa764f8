"""Functions that reveal more than their arguments: the engine, its settings, files, the host.

In a sandbox, where analysts' own statements run, there is little to reveal; these functions are
refused all the same. They are derived from DuckDB's own list of functions, so that a new function
is one of them until it is named here, or DuckDB calls it consistent.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from dpsql.engine.duckdb.constant_evaluation import engine_functions

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

_PREFIXES: Final = ("duckdb_", "pragma_", "pg_", "sqlite_")


@cache
def introspection_functions() -> frozenset[str]:
    """The names of all functions that reveal more than their arguments, in lower case."""
    known = _CHANGING | _TABLES
    listed = {
        name
        for name, space, kind, stability in engine_functions()
        if name not in known and not _of_arguments(space, kind, stability)
    }
    return frozenset(name.casefold() for name in listed | _NAMING | _CONSTANTS)


def is_introspection(word: str) -> bool:
    """Whether `word`, in lower case, is a name of the engine's own, also without parentheses."""
    return word in _NAMING or word.startswith(_PREFIXES)


def _of_arguments(space: str, kind: str, stability: str | None) -> bool:
    """Whether DuckDB's list says that the function's value follows from its arguments."""
    match kind:
        case "scalar" | "aggregate" | "window":
            return stability == "CONSISTENT"
        case "macro":
            return space == "main"
        case _:
            return False
