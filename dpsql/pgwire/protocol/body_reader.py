"""A message's body → its values, one by one; what doesn't fit is a fault."""

from __future__ import annotations

import struct

from dpsql.pgwire.protocol.violation import NotUtf8, ProtocolFault, UnknownFormat


class BodyReader:
    """Reads the values of a message's body one by one; raises `ProtocolFault` if they don't fit."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def byte(self) -> int:
        """One byte."""
        return self._take(1)[0]

    def int16(self) -> int:
        """Two bytes as a number that is never negative."""
        # Counts are never negative: 65,535 parameters are allowed.
        (number,) = struct.unpack("!H", self._take(2))
        return int(number)

    def int32(self) -> int:
        """Four bytes as a number."""
        (number,) = struct.unpack("!i", self._take(4))
        return int(number)

    def uint32(self) -> int:
        """Four bytes as a number that is never negative."""
        return self.int32() & 0xFFFFFFFF

    def format(self) -> int:
        """A format: 0 for text, 1 for binary."""
        number = self.int16()
        if number not in {0, 1}:
            raise UnknownFormat("a format is neither text nor binary")
        return number

    def value(self) -> bytes | None:
        """A value behind its length; None is NULL."""
        length = self.int32()
        if length == -1:
            return None
        if length < 0:
            raise ProtocolFault("a value has an impossible length")
        return self._take(length)

    def text(self) -> str:
        """A text up to its NUL."""
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise ProtocolFault("a text doesn't end")
        encoded = self._body[self._at : end]
        self._at = end + 1
        try:
            return encoded.decode()
        except UnicodeDecodeError:
            raise NotUtf8("a text isn't UTF-8", hint="SET client_encoding = 'UTF8'") from None

    def rest(self) -> bytes:
        """All bytes that are left."""
        return self._take(len(self._body) - self._at)

    def end(self) -> None:
        """Raise unless all bytes were read."""
        if self._at != len(self._body):
            raise ProtocolFault("a message is longer than what it says")

    def _take(self, count: int) -> bytes:
        if self._at + count > len(self._body):
            raise ProtocolFault("a message is shorter than what it says")
        self._at += count
        return self._body[self._at - count : self._at]
