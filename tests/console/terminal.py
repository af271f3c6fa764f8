"""A program in a pseudo-terminal, and what a person would see on its screen."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte

SECONDS = 60
"""Only how long a failure takes: nothing is measured by it."""

UP, DOWN, TAB, ENTER = "\x1b[A", "\x1b[B", "\t", "\r"
CTRL_C, CTRL_D, CTRL_R = "\x03", "\x04", "\x12"


class Terminal:
    def __init__(self, process: pexpect.spawn, rows: int, columns: int) -> None:
        self.process = process
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def cell(self, row: int, column: int) -> pyte.screens.Char:
        """A sign with its colours."""
        return self._screen.buffer[row][column]

    def type(self, text: str) -> None:
        self.process.send(text)

    def ask(self, text: str) -> None:
        """Type a line and send it."""
        self.type(text + ENTER)

    def until(self, seen: str | Callable[[str], bool]) -> str:
        """Wait for a text on the screen."""
        end = time.monotonic() + SECONDS
        while not (seen in self.text if isinstance(seen, str) else seen(self.text)):
            if time.monotonic() > end:
                raise AssertionError(f"{seen!r} never came:\n{self.text}")
            self._read()
        return self.text

    def ends(self) -> int:
        """Wait for the end of the program, and return its exit code."""
        self.process.expect(pexpect.EOF, timeout=SECONDS)
        self.process.close()
        return int(self.process.exitstatus)

    def _read(self) -> None:
        try:
            self._stream.feed(self.process.read_nonblocking(10_000, timeout=0.2))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            raise AssertionError(f"it ended:\n{self.text}") from None


@contextmanager
def console(schema: Path, *options: str, rows: int = 40, columns: int = 100) -> Iterator[Terminal]:
    process = pexpect.spawn(
        sys.executable,
        ["-m", "dpsql.cli", "console", str(schema), *options],
        env=os.environ | {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
        encoding="utf-8",
        dimensions=(rows, columns),
    )
    try:
        yield Terminal(process, rows, columns)
    finally:
        process.close(force=True)
