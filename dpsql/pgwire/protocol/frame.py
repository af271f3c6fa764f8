"""Bytes → frames: a kind, a length, a body. Frames that are too long are skipped, and never held.

The first frames of a connection have no kind; `Frames.untyped` is True as long as these are due.
"""

from __future__ import annotations

import struct
from typing import Final

from msgspec import Struct

from dpsql.pgwire.protocol.violation import ProtocolFault

LONGEST_STARTUP: Final = 8 * 1024
LONGEST_LOGIN: Final = 8 * 1024
LONGEST_MESSAGE: Final = 1024 * 1024
LONGEST_SKIPPED: Final = 1024 * 1024 * 1024

KINDS: Final = frozenset(b"QPBDECHSXpdcfF")

_LENGTH: Final = struct.Struct("!i")


class Frame(Struct, frozen=True):
    """One message as it came: `kind` is its first byte, 0 for messages of the start-up."""

    kind: int
    body: bytes


class TooLong(Struct, frozen=True):
    """A message of `length` bytes, its head included, whose body was skipped."""

    kind: int
    length: int


class Frames:
    """A buffer of received bytes, which become frames; it holds at most one incomplete frame.

    `longest` is the limit of a message's bytes once the client has logged in.
    """

    def __init__(self, longest: int = LONGEST_MESSAGE) -> None:
        self.untyped = True
        self._longest = LONGEST_LOGIN
        self._admitted = False
        self._longest_message = longest
        self._held = bytearray()
        self._skipping: TooLong | None = None
        self._to_skip = 0

    def admit(self) -> None:
        """Raise the limit of a message's bytes to that of clients that have logged in."""
        self._longest = self._longest_message
        self._admitted = True

    def feed(self, data: bytes) -> None:
        """Append received bytes, but those of a message that is skipped."""
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        self._held += data

    @property
    def pending(self) -> int:
        """How many received bytes aren't part of a taken frame yet."""
        return len(self._held)

    @property
    def is_amid(self) -> bool:
        """Whether a message has begun and isn't complete."""
        return bool(self._held) or self._skipping is not None

    def take(self) -> Frame | TooLong | None:
        """The next frame, None if more bytes are needed for it.

        Raises `ProtocolFault` for unknown kinds and impossible lengths.
        """
        if self._skipping is not None:
            return self._skipped()
        head = 0 if self.untyped else 1
        if head and self._held and self._held[0] not in KINDS:
            raise ProtocolFault("the client sent a message of an unknown kind")
        if len(self._held) < head + 4:
            return None
        kind = self._held[0] if head else 0
        (length,) = _LENGTH.unpack_from(self._held, head)
        if length < 4 or length > LONGEST_SKIPPED:
            raise ProtocolFault("the client sent a message of an impossible length")
        if length > (LONGEST_STARTUP if self.untyped else self._longest):
            if not self._admitted:
                raise ProtocolFault("the client sent too long a message before it logged in")
            return self._skip(kind, head + length)
        if len(self._held) < head + length:
            return None
        body = bytes(self._held[head + 4 : head + length])
        del self._held[: head + length]
        return Frame(kind, body)

    def ahead(self, count: int) -> list[Frame]:
        """The next frames, at most `count`, all of which are there; they are still to be taken."""
        frames: list[Frame] = []
        at, end = 0, len(self._held)
        while len(frames) < count and at + 5 <= end and self._skipping is None:
            (length,) = _LENGTH.unpack_from(self._held, at + 1)
            after = at + 1 + length
            if not 4 <= length <= self._longest or after > end:
                break
            frames.append(Frame(self._held[at], bytes(self._held[at + 5 : after])))
            at = after
        return frames

    def _skip(self, kind: int, whole: int) -> TooLong | None:
        here = min(whole, len(self._held))
        del self._held[:here]
        self._to_skip = whole - here
        self._skipping = TooLong(kind, whole)
        return self._skipped()

    def _skipped(self) -> TooLong | None:
        if self._to_skip:
            return None
        skipped, self._skipping = self._skipping, None
        return skipped
