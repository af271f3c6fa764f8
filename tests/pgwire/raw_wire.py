"""A client that sends the bytes of its choice, and reads the server's messages one by one."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

Told = tuple[object, ...]
"""The kind of a message of the server's, and what matters of it."""


def message(kind: str, body: bytes = b"") -> bytes:
    return kind.encode() + struct.pack("!i", len(body) + 4) + body


def query(sql: str | bytes) -> bytes:
    return message("Q", _text(sql))


def parse(name: str, sql: str | bytes, types: Sequence[int] = ()) -> bytes:
    return message(
        "P", _text(name) + _text(sql) + struct.pack(f"!H{len(types)}I", len(types), *types)
    )


def bind(
    portal: str,
    statement: str,
    values: Sequence[bytes | None] = (),
    formats: Sequence[int] = (),
    results: Sequence[int] = (),
) -> bytes:
    packed = (struct.pack("!i", -1 if v is None else len(v)) + (v or b"") for v in values)
    parts = (_shorts(formats), struct.pack("!H", len(values)), *packed, _shorts(results))
    return message("B", _text(portal) + _text(statement) + b"".join(parts))


def describe(kind: str, name: str = "") -> bytes:
    return message("D", kind.encode() + _text(name))


def close(kind: str, name: str = "") -> bytes:
    return message("C", kind.encode() + _text(name))


def execute(portal: str = "", rows: int = 0) -> bytes:
    return message("E", _text(portal) + struct.pack("!i", rows))


SYNC, FLUSH = message("S"), message("H")


def _text(value: str | bytes) -> bytes:
    return (value if isinstance(value, bytes) else value.encode()) + b"\0"


def _shorts(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"!H{len(numbers)}h", len(numbers), *numbers)


class RawWire:
    """A connection of `user` to the database at a port of this machine."""

    def __init__(self, port: int, database: str, user: str = "alice", seconds: float = 60) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self._held = b""
        options = b"".join(map(_text, ("user", user, "database", database))) + b"\0"
        self._socket.sendall(struct.pack("!ii", len(options) + 8, 3 << 16) + options)
        self.answers()

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def answers(self, count: int = 1) -> list[Told]:
        """The messages up to the ReadyForQuery that is the `count`th, or to the connection's end.

        Notices are left out, and the settings that are reported.
        """
        told: list[Told] = []
        while count:
            kind, body = self._next()
            if kind not in {"N", "S", "K", "R"}:
                told.append(_told(kind, body))
            count -= kind == "Z"
            if not kind:
                break
        return told

    def is_silent(self, seconds: float = 0.2) -> bool:
        """Whether the server sends nothing more within `seconds`."""
        return not self._held and not select.select([self._socket], [], [], seconds)[0]

    def _next(self) -> tuple[str, bytes]:
        while len(self._held) < 5 or len(self._held) < self._length():
            received = self._socket.recv(1 << 16)
            if not received:
                return "", b""
            self._held += received
        end = self._length()
        kind, body = chr(self._held[0]), self._held[5:end]
        self._held = self._held[end:]
        return kind, body

    def _length(self) -> int:
        return 1 + int.from_bytes(self._held[1:5])


@contextmanager
def connected(port: int, database: str) -> Iterator[RawWire]:
    wire = RawWire(port, database)
    try:
        yield wire
    finally:
        wire.close()


def _told(kind: str, body: bytes) -> Told:
    match kind:
        case "E":
            codes = {part[:1]: part[1:].decode() for part in body.split(b"\0")}
            return kind, codes[b"V"], codes[b"C"]
        case "T":
            return kind, *_columns(body)
        case "D":
            return kind, *_values(body)
        case "":
            return ("the connection's end",)
        case _:
            return kind, body


def _columns(body: bytes) -> Iterator[tuple[str, int, int]]:
    """Name, type and format of each column."""
    at = 2
    for _ in range(int.from_bytes(body[:2])):
        end = body.index(b"\0", at)
        _, _, oid, _, _, form = struct.unpack_from("!IhIhih", body, end + 1)
        yield body[at:end].decode(), oid, form
        at = end + 19


def _values(body: bytes) -> Iterator[bytes | None]:
    at = 2
    for _ in range(int.from_bytes(body[:2])):
        (length,) = struct.unpack_from("!i", body, at)
        yield None if length < 0 else body[at + 4 : at + 4 + length]
        at += 4 + max(0, length)
