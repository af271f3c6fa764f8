"""One client's socket: messages in, bytes out, with limits on how long either may take."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from dpsql.pgwire.limits import Limits
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import Machine
from dpsql.pgwire.protocol.violation import ProtocolFault

MAX_BUFFERED: Final = 256 * 1024
"""Bytes that are held back at most before they are sent."""

_READ: Final = 64 * 1024


class ConnectionStream:
    """A client's socket, its phase of the protocol, and the bytes that wait to be sent."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits
    ) -> None:
        self.machine = Machine(limits.message_bytes)
        self.is_encrypted = False
        self._reader = reader
        self._writer = writer
        self._patience = limits.message_seconds
        self._held: list[bytes] = []
        self._size = 0
        peer = writer.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""

    @property
    def has_no_more(self) -> bool:
        """Whether no byte of a further message was received."""
        return not self.machine.pending

    async def take(self, idle: float | None = None) -> f.Message | None:
        """The next message, None if the client has closed the socket.

        Raises TimeoutError if none begins within `idle` seconds (None: no limit), or if one that
        has begun isn't complete within `Limits.message_seconds`.
        """
        deadline: float | None = None
        loop = asyncio.get_running_loop()
        while (message := self.machine.take()) is None:
            if self.machine.is_amid and deadline is None:
                deadline = loop.time() + self._patience
            left = idle if deadline is None else deadline - loop.time()
            if self._held:
                await self.flush()
            async with asyncio.timeout(left):
                data = await self._reader.read(_READ)
            if not data:
                return None
            self.machine.feed(data)
        return message

    async def hold(self, data: bytes) -> None:
        """Send `data` with the next flush, at the latest when `MAX_BUFFERED` bytes are held."""
        self._held.append(data)
        self._size += len(data)
        if self._size >= MAX_BUFFERED:
            await self.flush()

    async def send(self, data: bytes) -> None:
        """Send `data` now, behind what is held."""
        self._held.append(data)
        await self.flush()

    async def flush(self) -> None:
        """Send what is held; TimeoutError if the client doesn't read it in time."""
        self._writer.write(b"".join(self._held))
        self._held.clear()
        self._size = 0
        if self._writer.transport.get_write_buffer_size():
            async with asyncio.timeout(self._patience):
                await self._writer.drain()

    def abort(self) -> None:
        """End the connection, as if its client had."""
        self._writer.transport.abort()

    async def encrypt(self, context: ssl.SSLContext) -> None:
        """Begin TLS. `ProtocolFault` if bytes came before it, which anybody could have injected."""
        if self.machine.pending:
            raise ProtocolFault("bytes came before encryption had begun")
        await self.send(b.ENCRYPT)
        await self._writer.start_tls(context)
        self.is_encrypted = True
