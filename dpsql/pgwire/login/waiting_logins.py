"""Clients that haven't logged in yet: of too many, the one that has waited longest ends.

Whoever reaches the port may open connections and send nothing. Were the newest ones refused, two
thousand of these would keep everybody out; a client that means to log in takes less than a second,
and they have waited for longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from dpsql.pgwire.error_response import TooSlow
from dpsql.pgwire.limits import Limits


class WaitingLogins:
    """The connections without a login, in the order in which they came."""

    def __init__(self, limits: Limits) -> None:
        self._seconds = limits.login_seconds
        self._max_connections = limits.connections + limits.waiting_logins
        self._ends: dict[object, Callable[[], None]] = {}

    def make_room(self, connections: int) -> bool:
        """Whether there may be so many `connections`, if that which has waited longest ends."""
        if connections <= self._max_connections:
            return True
        oldest = next(iter(self._ends), None)
        if oldest is None:
            return False
        self._ends.pop(oldest)()
        return True

    @asynccontextmanager
    async def login_time(self, end: Callable[[], None]) -> AsyncIterator[None]:
        """Within it, a connection logs in, which `end` ends; TooSlow if that takes too long."""
        key = object()
        self._ends[key] = end
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except TimeoutError:
            late = f"the login took longer than {self._seconds:g} s, the server's limit"
            raise TooSlow(late) from None
        finally:
            self._ends.pop(key, None)
