"""Rows that a server computed, in the types that are asked for."""

from __future__ import annotations

from typing import Final

from dpsql.engine.supported import ServerSelect

COMPUTED: Final = "dpsql computed"
"""What the rows that were computed are called in DuckDB; no declared name has a space."""


def typed_rows_sql(select: ServerSelect) -> str:
    """DuckDB's SELECT of the rows that came, in the types that are asked for."""
    items = ", ".join(
        f"CAST({_quoted(name)} AS {kind}) AS {_quoted(name)}" for name, kind in select.columns
    )
    return f"SELECT {items} FROM {_quoted(COMPUTED)}"  # noqa: S608 - names are our own


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
