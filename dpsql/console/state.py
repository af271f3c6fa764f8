"""What the loop and its commands have in front of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console as Screen

from dpsql.console.display_settings import Settings
from dpsql.dbapi.connection import Connection


@dataclass(slots=True)
class ConsoleState:
    """A connection, a screen, the switches, and the query that was asked last.

    `proposal` is what to write instead of a statement that was just refused.
    """

    connection: Connection
    screen: Screen
    settings: Settings = field(default_factory=Settings)
    last: str = ""
    proposal: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Run this text next, as if it were typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Put this text into the next prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Quit:
    """The end."""


NextAction = Run | Edit | Quit | None
"""What a command asks of the loop."""
