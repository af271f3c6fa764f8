"""The server's messages → bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

AUTHENTICATED = b"R\0\0\0\x08\0\0\0\0"
PARSED = b"1\0\0\0\x04"
BOUND = b"2\0\0\0\x04"
CLOSED = b"3\0\0\0\x04"
NO_DATA = b"n\0\0\0\x04"
EMPTY_QUERY = b"I\0\0\0\x04"
SUSPENDED = b"s\0\0\0\x04"
COPY_DONE = b"c\0\0\0\x04"
ENCRYPT, STAY_PLAIN = b"S", b"N"


class Field(Struct, frozen=True):
    """A column of a RowDescription: `size` in bytes, -1 if it varies; `format` 0 text, 1 binary."""

    name: str
    oid: int
    size: int
    modifier: int
    format: int = 0


def sasl(mechanisms: Iterable[str]) -> bytes:
    """AuthenticationSASL: the client has to log in with one of `mechanisms`."""
    names = b"".join(name.encode() + b"\0" for name in mechanisms)
    return _message(b"R", struct.pack("!i", 10) + names + b"\0")


def sasl_continue(data: bytes) -> bytes:
    """AuthenticationSASLContinue: the server's first message of the exchange."""
    return _message(b"R", struct.pack("!i", 11) + data)


def sasl_final(data: bytes) -> bytes:
    """AuthenticationSASLFinal: the server's last message of the exchange."""
    return _message(b"R", struct.pack("!i", 12) + data)


def negotiate(unknown: Sequence[str]) -> bytes:
    """NegotiateProtocolVersion: the version 3.0 is the newest here, and the options unknown here.

    The protocol's description says that it has the minor version alone; PostgreSQL sends both.
    """
    names = b"".join(map(_text, unknown))
    return _message(b"v", struct.pack("!HHi", 3, 0, len(unknown)) + names)


def parameter(name: str, value: str) -> bytes:
    """ParameterStatus: a setting's value, which clients keep track of."""
    return _message(b"S", _text(name) + _text(value))


def key(process: int, secret: bytes) -> bytes:
    """BackendKeyData: the process number and the secret that a CancelRequest has to have."""
    return _message(b"K", struct.pack("!I", process) + secret)


def ready(status: str) -> bytes:
    """ReadyForQuery: `status` is I when idle, T in a transaction, E in a failed one."""
    return _message(b"Z", status.encode())


def parameters(oids: Sequence[int]) -> bytes:
    """ParameterDescription: the OIDs of a statement's parameters."""
    return _message(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def rows(fields: Sequence[Field]) -> bytes:
    """RowDescription: the columns of the rows that follow."""
    parts = [struct.pack("!H", len(fields))]
    for field in fields:
        numbers = (0, 0, field.oid, field.size, field.modifier, field.format)
        parts += [_text(field.name), struct.pack("!IhIhih", *numbers)]
    return _message(b"T", b"".join(parts))


def row(values: Sequence[bytes | None]) -> bytes:
    """DataRow: one row; None is NULL."""
    parts = [struct.pack("!H", len(values))]
    parts.extend(
        b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value
        for value in values
    )
    return _message(b"D", b"".join(parts))


def complete(tag: str) -> bytes:
    """CommandComplete: a statement is done; `tag` says which, as in SELECT 5."""
    return _message(b"C", _text(tag))


def error(fields: Mapping[str, str]) -> bytes:
    """ErrorResponse: the error's fields by their letters."""
    return _message(b"E", _fields(fields))


def notice(fields: Mapping[str, str]) -> bytes:
    """NoticeResponse: the notice's fields by their letters."""
    return _message(b"N", _fields(fields))


def copy_out(columns: int, *, binary: bool) -> bytes:
    """CopyOutResponse: the data of COPY follow, of so many columns in one format."""
    numbers = (int(binary), columns, *([int(binary)] * columns))
    return _message(b"H", struct.pack(f"!bH{columns}h", *numbers))


def copy_data(data: bytes) -> bytes:
    """CopyData: a chunk of the data of COPY."""
    return _message(b"d", data)


def _fields(fields: Mapping[str, str]) -> bytes:
    return b"".join(name.encode() + _text(text) for name, text in fields.items()) + b"\0"


def _text(value: str) -> bytes:
    # A NUL would end the text early.
    return value.replace("\0", "").encode(errors="replace") + b"\0"


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body
