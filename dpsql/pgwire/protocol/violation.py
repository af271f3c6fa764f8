"""A client that doesn't speak the protocol: the errors that its bytes can cause."""

from __future__ import annotations

from dpsql.errors import InterfaceError


class ProtocolFault(InterfaceError):
    """The bytes are not what PostgreSQL's protocol allows now.

    The connection ends where it isn't known where the next message begins, and before the login.
    """

    sqlstate = "08P01"


class NotUtf8(ProtocolFault):
    """A text in a message has bytes that are not UTF-8."""

    sqlstate = "22021"


class UnknownFormat(ProtocolFault):
    """A format of a value is neither 0 nor 1."""

    sqlstate = "22023"
