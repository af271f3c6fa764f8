"""Which message a client may send when: phases of a connection, and a table of transitions."""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from types import MappingProxyType
from typing import Final

from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.frame import LONGEST_MESSAGE, Frames
from dpsql.pgwire.protocol.violation import ProtocolFault


class Phase(Enum):
    """The phase of a connection."""

    STARTUP = "waiting for who connects"
    DECIDING = "the server decides who may enter"
    FIRST_PROOF = "waiting for the first message of an exchange"
    LAST_PROOF = "waiting for the last message of an exchange"
    SERVING = "waiting for statements"
    SKIPPING = "skipping what follows an error"
    ENDED = "over"


_SERVED: Final = (
    f.Query,
    f.Parse,
    f.Bind,
    f.Describe,
    f.Execute,
    f.Close,
    f.Flush,
    f.Sync,
    f.CopyInput,
    f.FunctionCall,
    f.Oversized,
    f.Malformed,
)

TRANSITIONS: Final = MappingProxyType(
    {
        (Phase.STARTUP, f.SslRequest): Phase.STARTUP,
        (Phase.STARTUP, f.GssRequest): Phase.STARTUP,
        (Phase.STARTUP, f.CancelRequest): Phase.ENDED,
        (Phase.STARTUP, f.Startup): Phase.DECIDING,
        (Phase.FIRST_PROOF, f.Secret): Phase.LAST_PROOF,
        (Phase.FIRST_PROOF, f.Terminate): Phase.ENDED,
        (Phase.LAST_PROOF, f.Secret): Phase.DECIDING,
        (Phase.LAST_PROOF, f.Terminate): Phase.ENDED,
        **{(Phase.SERVING, kind): Phase.SERVING for kind in _SERVED},
        (Phase.SERVING, f.Terminate): Phase.ENDED,
        **{(Phase.SKIPPING, kind): Phase.SKIPPING for kind in _SERVED if kind is not f.Sync},
        (Phase.SKIPPING, f.Sync): Phase.SERVING,
        (Phase.SKIPPING, f.Terminate): Phase.ENDED,
    }
)
"""The next phase by phase and class of message; a message that isn't here may not come."""


class Machine:
    """One connection's phase: `feed` it bytes, `take` messages, and report decisions to it.

    The decisions are `ask_secret`, `admit`, `skip` and `end`. Messages are taken one at a time,
    because those that follow an error are skipped.
    """

    def __init__(self, longest: int = LONGEST_MESSAGE) -> None:
        self.phase = Phase.STARTUP
        self._frames = Frames(longest)
        self._encryption_requested: set[type[f.Message]] = set()

    @property
    def pending(self) -> int:
        """How many received bytes aren't part of a taken message yet."""
        return self._frames.pending

    @property
    def is_amid(self) -> bool:
        """Whether a message has begun and isn't complete."""
        return self._frames.is_amid

    def feed(self, data: bytes) -> None:
        """Append received bytes."""
        self._frames.feed(data)

    def take(self) -> f.Message | None:
        """The next message to act on, None if more bytes are needed.

        Raises `ProtocolFault` for a message that the phase has no transition for.
        """
        while self.phase not in {Phase.ENDED, Phase.DECIDING}:
            self._frames.untyped = self.phase is Phase.STARTUP
            frame = self._frames.take()
            if frame is None:
                return None
            logged_in = self.phase in {Phase.SERVING, Phase.SKIPPING}
            message = f.decoded(frame) if logged_in else f.decode(frame)
            skipped = self.phase is Phase.SKIPPING
            self._move(message)
            if not skipped or self.phase is not Phase.SKIPPING:
                return message
        return None

    def ahead(self, count: int) -> list[f.Message]:
        """The next messages up to Sync or Flush, at most `count`, as far as they are well-formed.

        They are there, and still to be taken.
        """
        messages: list[f.Message] = []
        with suppress(ProtocolFault):
            for frame in self._frames.ahead(count) if self.phase is Phase.SERVING else ():
                messages.append(f.decode(frame))
                if isinstance(messages[-1], f.Sync | f.Flush):
                    break
        return messages

    def pass_over(self, count: int) -> None:
        """Take the first `count` messages that `ahead` showed, none of which ends the phase."""
        for _ in range(count):
            self._frames.take()

    def ask_secret(self) -> None:
        """Decide that the client has to prove who it is, by SCRAM."""
        self._decide(Phase.FIRST_PROOF)

    def admit(self) -> None:
        """Decide that the client is logged in."""
        self._decide(Phase.SERVING)
        self._frames.admit()

    def skip(self) -> None:
        """Skip all messages up to Sync: one of the extended protocol failed."""
        if self.phase is Phase.SERVING:
            self.phase = Phase.SKIPPING

    def end(self) -> None:
        """Take no more messages."""
        self.phase = Phase.ENDED

    def _decide(self, phase: Phase) -> None:
        if self.phase is not Phase.DECIDING:
            raise ProtocolFault("there is nothing to decide")
        self.phase = phase

    def _move(self, message: f.Message) -> None:
        kind = type(message)
        if (self.phase, kind) not in TRANSITIONS:
            raise ProtocolFault("the client sent a message that may not come now")
        if isinstance(message, f.SslRequest | f.GssRequest):
            # A client that asks again and again would hold the connection for ever.
            if kind in self._encryption_requested:
                raise ProtocolFault("encryption is asked for twice")
            self._encryption_requested.add(kind)
        self.phase = TRANSITIONS[self.phase, kind]
