"""Frames → a client's messages, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from dpsql.pgwire.protocol.body_reader import BodyReader
from dpsql.pgwire.protocol.frame import Frame, TooLong
from dpsql.pgwire.protocol.violation import ProtocolFault

VERSION_3: Final = 3


@dataclass(frozen=True, slots=True)
class Startup:
    """StartupMessage: user, database and settings in `options`; `minor` is the version 3.x."""

    minor: int
    options: Mapping[str, str] = field(hash=False)


class SslRequest(Struct, frozen=True):
    """SSLRequest: the client asks to begin TLS."""


class GssRequest(Struct, frozen=True):
    """GSSENCRequest: the client asks for GSSAPI's encryption, which isn't supported here."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Stop the statement that the connection `process` runs, if `secret` is that connection's."""

    process: int
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Secret:
    """A message of kind p: SASLInitialResponse or SASLResponse, by the phase of the login."""

    body: bytes = field(repr=False)


class Query(Struct, frozen=True):
    """A simple query: statements to be run one after another."""

    sql: str


class Parse(Struct, frozen=True):
    """Prepare `sql` under `name`; `types` are OIDs of the first parameters, 0 where unknown."""

    name: str
    sql: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """Make `portal` of a statement and its parameters' values, where None is NULL.

    `formats` are those of the parameters and `results` those of the answer's columns, 0 for text
    and 1 for binary: one for each, one for all, or none if all are text.
    """

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...] = field(repr=False)
    results: tuple[int, ...] = ()


class Describe(Struct, frozen=True):
    """Describe the columns of a statement (`kind` "S") or a portal ("P")."""

    kind: str
    name: str


class Execute(Struct, frozen=True):
    """Run `portal`, or resume it, and send at most `rows` rows; 0 means all."""

    portal: str
    rows: int


class Close(Struct, frozen=True):
    """Close a statement (`kind` "S") or a portal ("P")."""

    kind: str
    name: str


class Flush(Struct, frozen=True):
    """Send the messages that the server has buffered."""


class Sync(Struct, frozen=True):
    """The end of a series of extended-query messages, and of skipping after an error."""


class Terminate(Struct, frozen=True):
    """The client closes the connection."""


class CopyInput(Struct, frozen=True):
    """CopyData, CopyDone or CopyFail; ignored, since no COPY FROM ever runs here."""


class FunctionCall(Struct, frozen=True):
    """The legacy message that calls a function; refused."""


class Oversized(Struct, frozen=True):
    """A message of `length` bytes, more than the limit; its body was skipped.

    `ends_itself`: it is a Query or FunctionCall, behind which no Sync has to come.
    """

    length: int
    ends_itself: bool = True


@dataclass(frozen=True, slots=True)
class Malformed:
    """A message whose body isn't one of its kind, as `fault` tells; where it ends is known.

    `ends_itself`: as in `Oversized`.
    """

    fault: ProtocolFault
    ends_itself: bool


Message = (
    Startup
    | SslRequest
    | GssRequest
    | CancelRequest
    | Secret
    | Query
    | Parse
    | Bind
    | Describe
    | Execute
    | Close
    | Flush
    | Sync
    | Terminate
    | CopyInput
    | FunctionCall
    | Oversized
    | Malformed
)

_WHOLE: Final = frozenset(b"QF")
"""Kinds of messages that end by themselves."""


def decode(frame: Frame | TooLong) -> Message:
    """The message in `frame`; `ProtocolFault` if its body isn't one of its kind."""
    if isinstance(frame, TooLong):
        return Oversized(frame.length, frame.kind in _WHOLE)
    read = BodyReader(frame.body)
    message = _startup(read) if frame.kind == 0 else _message(chr(frame.kind), read)
    read.end()
    return message


def _startup(read: BodyReader) -> Message:
    major, minor = read.int16(), read.int16()
    match (major << 16) + minor:
        case 80877103:
            return SslRequest()
        case 80877104:
            return GssRequest()
        case 80877102:
            return CancelRequest(read.int32() & 0xFFFFFFFF, read.rest())
        case _:
            pass
    if major != VERSION_3:
        raise ProtocolFault("only version 3 of the protocol is spoken")
    options: dict[str, str] = {}
    while name := read.text():
        options[name] = read.text()
    return Startup(minor, options)


def _message(kind: str, read: BodyReader) -> Message:
    match kind:
        case "Q":
            return Query(read.text())
        case "P":
            name, sql = read.text(), read.text()
            return Parse(name, sql, tuple(read.uint32() for _ in range(read.int16())))
        case "B":
            return _bind(read)
        case "D" | "C":
            target, name = chr(read.byte()), read.text()
            if target not in "SP":
                raise ProtocolFault("neither a statement nor a portal is meant")
            return Describe(target, name) if kind == "D" else Close(target, name)
        case "E":
            return Execute(read.text(), max(0, read.int32()))
        case "H":
            read.rest()
            return Flush()
        case "S":
            read.rest()  # whatever else it says, the client waits for what ends its messages
            return Sync()
        case "X":
            read.rest()
            return Terminate()
        case "p":
            return Secret(read.rest())
        case "d" | "c" | "f":
            read.rest()
            return CopyInput()
        case "F":
            read.rest()
            return FunctionCall()
        case _:
            raise ProtocolFault("the client sent a message of an unknown kind")


def _bind(read: BodyReader) -> Bind:
    portal, statement = read.text(), read.text()
    formats = tuple(read.format() for _ in range(read.int16()))
    values = tuple(read.value() for _ in range(read.int16()))
    results = tuple(read.format() for _ in range(read.int16()))
    if len(formats) not in {0, 1, len(values)}:
        raise ProtocolFault("there are as many formats as parameters, or one, or none")
    return Bind(portal, statement, formats, values, results)


def decoded(frame: Frame | TooLong) -> Message:
    """As `decode`, but a body that isn't one of its kind is a message, too."""
    try:
        return decode(frame)
    except ProtocolFault as fault:
        return Malformed(fault, frame.kind in _WHOLE)
