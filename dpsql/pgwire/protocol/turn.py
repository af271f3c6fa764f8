"""Messages of one statement that have arrived together: answered in one turn of a thread.

A thread takes and gives up the interpreter for each of its turns, which takes longer than to answer
most messages: five of them make one statement of the extended protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import Machine
from dpsql.pgwire.protocol.violation import ProtocolFault

MAX_MESSAGES: Final = 16
"""Messages of one turn, which share the time that one statement may take."""

_BEGINS: Final = (f.Parse, f.Query, f.FunctionCall, f.Oversized, f.Terminate)
_ENDS: Final = (f.Sync, f.Flush, f.Close, f.CopyInput)
"""What begins a statement, and what is left to say behind one that was run."""

Handle = Callable[[f.Message, Callable[[], None]], Iterator[bytes]]
"""A message, and how to skip those up to Sync → the server's messages."""


class Turn:
    """The messages from `first` on that belong to its statement and are there already.

    `taken` of them were taken. `left` is the first message of another statement, and `fault` what
    is wrong with the bytes behind the last; each is None if there is none, and until the turn
    `is_over`.
    """

    def __init__(self, first: f.Message, machine: Machine, handle: Handle) -> None:
        self._machine = machine
        self._handle = handle
        self._answers = self._answered(first)
        self.taken = 1
        self.left: f.Message | None = None
        self.fault: ProtocolFault | None = None
        self.is_over = False

    def part(self, size: int) -> bytes:
        """The next `size` bytes or some more of the answers; fewer at their end."""
        parts: list[bytes] = []
        held = 0
        for answer in self._answers:
            parts.append(answer)
            held += len(answer)
            if held >= size:
                break
        else:
            self.is_over = True
        return b"".join(parts)

    def _answered(self, message: f.Message) -> Iterator[bytes]:
        was_run = False
        while True:
            yield from self._handle(message, self._machine.skip)
            was_run = was_run or isinstance(message, f.Execute | f.Query)
            if self.taken == MAX_MESSAGES:
                return
            try:
                following = self._machine.take()
            except ProtocolFault as fault:  # what was answered before is sent first
                self.fault = fault
                return
            if following is None:
                return
            if isinstance(following, _BEGINS) or (was_run and not isinstance(following, _ENDS)):
                self.left = following
                return
            self.taken += 1
            message = following
