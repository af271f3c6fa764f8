"""The state that the console's loop and its commands share."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console as Screen

from dpsql.console.display_settings import Settings
from dpsql.dbapi.connection import Connection


@dataclass(slots=True)
class ConsoleState:
    """A connection, a screen, the switches, and the last query that was answered ("" if none).

    `proposal` is a correction of the statement that was just refused, None if there is none.
    """

    connection: Connection
    screen: Screen
    settings: Settings = field(default_factory=Settings)
    last: str = ""
    proposal: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Run `text` next, as if it were typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` into the next prompt, to be edited."""

    text: str


@dataclass(frozen=True, slots=True)
class Quit:
    """End the console."""


NextAction = Run | Edit | Quit | None
"""What the loop does after a command; None: read the next input."""
