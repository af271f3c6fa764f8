"""The state that the console's loop and its commands share."""

from __future__ import annotations

from collections import deque
from typing import Final

from msgspec import Struct, field
from rich.console import Console as Screen

from dpsql.console.display_settings import Settings
from dpsql.console.named_queries import NamedQueries
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor

MAX_SHOWN: Final = 20
"""Answers that can be shown again."""


class ShownAnswer(Struct, frozen=True):
    """An answer that was shown, to be shown again: it was paid for."""

    sql: str
    cursor: Cursor


class ConsoleState(Struct):
    """A connection, a screen, the switches, and the last query that was answered ("" if none).

    `proposal` is a correction of the statement that was just refused, None if there is none.
    `draft` is what was typed before a command, and goes on after it. `named` are queries that are
    kept under names, None where no file is. `shown` are the last answers, the latest first.
    """

    connection: Connection
    screen: Screen
    settings: Settings = field(default_factory=Settings)
    last: str = ""
    proposal: str | None = None
    draft: str = ""
    named: NamedQueries | None = None
    shown: deque[ShownAnswer] = field(default_factory=lambda: deque(maxlen=MAX_SHOWN))


class Run(Struct, frozen=True):
    """Run `text` next, as if it were typed."""

    text: str


class Edit(Struct, frozen=True):
    """Put `text` into the next prompt, to be edited."""

    text: str


class Show(Struct, frozen=True):
    """Show an answer of before again."""

    cursor: Cursor


class Quit(Struct, frozen=True):
    """End the console."""


NextAction = Run | Edit | Show | Quit | None
"""What the loop does after a command; None: read the next input."""
