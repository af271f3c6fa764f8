"""Functions that tell of more than their arguments: of the engine, its settings, files, the host.

Where analysts' own statements run there is nothing of that to be told; these names are left out of
them all the same. The list is DuckDB's own, so that a function which a later version brings is one
of them until it is named here, or says that it is consistent.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from dpsql.engine.duckdb.constant_evaluation import ask_of_functions

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
"""Functions of chance and of the clock."""

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
"""Table functions whose rows are made of their arguments."""

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
"""Words that need no parentheses."""

_CONSTANTS: Final = {"version", "get_block_size"}
"""Consistent ones, which tell of the engine all the same."""

_PREFIXES: Final = ("duckdb_", "pragma_", "pg_", "sqlite_")


@cache
def introspection_functions() -> frozenset[str]:
    """The names of all functions that tell of more, in lower case."""
    known = _CHANGING | _TABLES
    found = {
        name
        for name, space, kind, stability in ask_of_functions()
        if name not in known and not _of_arguments(space, kind, stability)
    }
    return frozenset(name.casefold() for name in found | _NAMING | _CONSTANTS)


def is_introspection(word: str) -> bool:
    """Whether `word` alone, in lower case, is the engine's name of something of its own."""
    return word in _NAMING or word.startswith(_PREFIXES)


def _of_arguments(space: str, kind: str, stability: str | None) -> bool:
    match kind:
        case "scalar" | "aggregate" | "window":
            return stability == "CONSISTENT"
        case "macro":
            return space == "main"
        case _:
            return False
