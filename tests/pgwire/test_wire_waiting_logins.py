"""Connections without a login keep nobody out."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

from dpsql.pgwire.limits import Limits
from dpsql.pgwire.login.authentication import Authenticator
from dpsql.pgwire.server import Server
from dpsql.pgwire.shared_dataset import Dataset

LIMITS = Limits(connections=1, waiting_logins=3)
OPTIONS = b"user\0alice\0\0"
STARTUP = struct.pack("!ii", len(OPTIONS) + 8, 3 << 16) + OPTIONS


def test_the_oldest_of_too_many_that_dont_log_in_ends(dataset: Dataset, tmp_path: Path) -> None:
    async def tried() -> None:
        door = Authenticator(tmp_path / "users", LIMITS, trusts=True)
        server = Server(dataset, door, LIMITS)
        port = await server.listen("127.0.0.1", 0)
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(10)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(STARTUP)
        assert await reader.readexactly(1) == b"R"
        assert await silent[0][0].read() == b""
        late = asyncio.ensure_future(silent[-1][0].read())
        assert not (await asyncio.wait({late}, timeout=0.2))[0]
        await server.close()
        assert b"the server is stopping" in await late
        for _, own in (*silent, (reader, writer)):
            own.close()

    asyncio.run(tried())
