"""The sidecar on a server: tables of a schema of its owner's own there, as small frozen values.

Statements say by these values what they read: the schema, the stamp of what its tables have to be
made of, and what each of them adds to the rows. They cross processes with the statements.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSidecarTable:
    """A table that the sidecar may have: its rows, each with its unit.

    `unit_type` is the DuckDB type of the unit, which rows also have under the name
    `lent_unit_column`, unless that is None.
    """

    name: str
    unit_type: str
    lent_unit_column: str | None


@dataclass(frozen=True, slots=True)
class ServerSidecar:
    """The sidecar in the server's schema `space`, and the `stamp` that its record must have."""

    space: str
    stamp: str
    tables: tuple[ServerSidecarTable, ...]

    def table(self, name: str) -> ServerSidecarTable | None:
        """The table of this name; None if the sidecar has none."""
        return next((table for table in self.tables if table.name == name), None)
