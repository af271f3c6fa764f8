"""A client that doesn't speak the protocol: the one error that its bytes can cause."""

from __future__ import annotations

from dpsql.errors import InterfaceError


class ProtocolFault(InterfaceError):
    """The bytes are not what PostgreSQL's protocol allows now; the connection ends."""

    sqlstate = "08P01"
