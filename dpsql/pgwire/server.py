"""Listening, logins, and a task for each client.

Each client is a task that reads messages, which are handled in a thread, one at a time. `limits`
bounds a client's time to log in, to send one message and to be idle, and its bytes.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from dpsql.errors import BadParameter, Error
from dpsql.pgwire.connection_stream import MAX_BUFFERED, ConnectionStream
from dpsql.pgwire.error_response import LoginFailed, Stopping, TooMany, TooSlow, fields
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.login.authentication import (
    Authenticator,
    StartupIdentity,
    check_database,
    identity_of,
    mechanisms,
    startup_messages,
    unknown_options,
)
from dpsql.pgwire.login.waiting_logins import WaitingLogins
from dpsql.pgwire.message_handler import MessageHandler
from dpsql.pgwire.monitoring.error_log import note
from dpsql.pgwire.monitoring.metrics import Counts
from dpsql.pgwire.options import is_loopback
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.turn import Turn
from dpsql.pgwire.protocol.violation import ProtocolFault
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.settings.session_settings import SessionSettings
from dpsql.pgwire.shared_dataset import Dataset

STOPPING: Final = "the server is stopping"
_GOODBYE_SECONDS: Final = 3.0
"""How long a cancelled statement may take to report whether its charge stands."""


class Server:
    """Listens for clients of one dataset; without `tls`, connections aren't encrypted."""

    def __init__(
        self,
        dataset: Dataset,
        authenticator: Authenticator,
        limits: Limits,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._dataset = dataset
        self._authenticator = authenticator
        self._limits = limits
        self._tls = tls
        self.counts = Counts()
        self._clients: dict[int, _Client] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = WaitingLogins(limits)
        self._threads = ThreadPoolExecutor(limits.connections, thread_name_prefix="dpsql client")
        self._listening: list[asyncio.Server] = []
        self._draining = False

    async def listen(self, host: str, port: int) -> int:
        """Take clients from now on; returns the port.

        `BadParameter` if everybody is trusted and `host` has an address that isn't loopback.
        """
        server = await asyncio.start_server(
            self._accept, host, port, backlog=1024, start_serving=False
        )
        addresses = [str(listener.getsockname()[0]) for listener in server.sockets]
        # A host's name may have got another address since the options were checked.
        if self._authenticator.allows_anyone and not all(map(is_loopback, addresses)):
            server.close()
            raise BadParameter(
                f"no users are defined, and {host} can be reached from elsewhere",
                hint="add some with dpsql user add, or listen on 127.0.0.1",
            )
        await server.start_serving()
        self._listening.append(server)
        return int(server.sockets[0].getsockname()[1])

    @property
    def busy(self) -> int:
        """How many clients have a statement that runs now."""
        return sum(client.is_busy for client in self._clients.values())

    async def drain(self) -> None:
        """Take no more clients, and let statements that run end within `Limits.drain_seconds`.

        Idle connections end at once, the others with their answers; late statements are cancelled.
        """
        self._draining = True
        for server in self._listening:
            server.close()
        busy = {client.task for client in self._clients.values() if client.is_busy}
        for task in self._tasks - busy:
            task.cancel()
        if busy:
            _, late = await asyncio.wait(busy, timeout=self._limits.drain_seconds)
            for client in self._clients.values():
                if client.task in late:
                    client.conversation.cancel(STOPPING)
            if late:
                await asyncio.wait(late, timeout=_GOODBYE_SECONDS)

    async def close(self) -> None:
        """Take no more clients, cancel all statements, and end all connections."""
        for server in self._listening:
            server.close()
        for client in list(self._clients.values()):
            client.conversation.cancel(STOPPING)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = _own_task()
        self._tasks.add(task)
        self.counts.accepted += 1
        try:
            if not self._waiting.make_room(len(self._tasks)):
                return
            await self._serve(ConnectionStream(reader, writer, self._limits))
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client is gone, or was too slow
        except asyncio.CancelledError:
            with suppress(Exception):
                writer.write(b.error(fields(Stopping(STOPPING), severity="FATAL")))
        finally:
            self._tasks.discard(task)
            with suppress(Exception):
                writer.close()

    async def _serve(self, wire: ConnectionStream) -> None:
        try:
            async with self._waiting.login_time(wire.abort):
                guest = await self._let_in(wire)
            if guest is None:
                return
            await self._talk(wire, guest)
        except Error as error:
            note(error, "")
            self.counts.faults += isinstance(error, ProtocolFault)
            await wire.send(b.error(fields(error, severity="FATAL")))

    async def _let_in(self, wire: ConnectionStream) -> StartupIdentity | None:
        """Who has logged in; None after a CancelRequest, or if the client has left."""
        while True:
            message = await wire.take()
            match message:
                case f.SslRequest() if self._tls is not None and not wire.is_encrypted:
                    await wire.encrypt(self._tls)
                case f.SslRequest() | f.GssRequest():
                    await wire.send(b.STAY_PLAIN)
                case f.CancelRequest(process=process, secret=secret):
                    self._cancel(process, secret)
                    return None
                case f.Startup():
                    return await self._log_in(wire, message)
                case _:
                    return None

    async def _log_in(self, wire: ConnectionStream, startup: f.Startup) -> StartupIdentity | None:
        guest = identity_of(startup, wire.address)
        unknown = unknown_options(startup)
        if startup.minor or unknown:
            await wire.send(b.negotiate(unknown))
        if len(self._clients) >= self._limits.connections:
            raise TooMany("too many connections", hint="try again later")
        exchange = self._authenticator.authenticate(guest)
        if exchange is None:
            wire.machine.admit()
            return guest
        if self._tls is not None and not wire.is_encrypted and not is_loopback(wire.address):
            raise LoginFailed(
                "connections have to be encrypted", hint="connect with sslmode=require"
            )
        wire.machine.ask_secret()
        await wire.send(mechanisms())
        first = await wire.take()
        if not isinstance(first, f.Secret):
            return None
        await wire.send(b.sasl_continue(exchange.first(first.body)))
        last = await wire.take()
        if not isinstance(last, f.Secret):
            return None
        proof = exchange.last(last.body)
        if proof is None:
            raise self._authenticator.note_failure(guest)
        await wire.send(b.sasl_final(proof))
        wire.machine.admit()
        return guest

    async def _talk(self, wire: ConnectionStream, identity: StartupIdentity) -> None:
        loop = asyncio.get_running_loop()
        settings = SessionSettings(identity.settings)
        check_database(identity, self._dataset.snapshot().schema.dataset)
        process = self._number()
        service = await loop.run_in_executor(
            self._threads, QueryService, self._dataset, identity.analyst, process
        )
        client = _Client(MessageHandler(service, settings, self._limits, self.counts))
        self._clients[process] = client
        self.counts.connections += 1
        self.counts.logins += 1
        try:
            client.conversation.begin()
            await wire.send(startup_messages(settings, process, client.secret))
            await self._converse(wire, client)
        finally:
            self.counts.connections -= 1
            del self._clients[process]
            client.conversation.cancel()
            self._threads.submit(client.conversation.close)

    async def _converse(self, wire: ConnectionStream, client: _Client) -> None:
        loop = asyncio.get_running_loop()
        left: f.Message | None = None
        while True:
            client.is_busy = left is not None
            if left is None and self._draining and wire.has_no_more:
                raise Stopping(STOPPING)
            message = left or await self._next(wire)
            client.is_busy = True
            if message is None or isinstance(message, f.Terminate):
                return
            answer = client.conversation.at_once(message, wire.machine)
            if answer is not None:
                left = None
                await wire.hold(answer)
                if wire.has_no_more:
                    await wire.flush()
                await asyncio.sleep(0)  # others' turn: this client may have sent many
                continue
            seconds = self._limits.statement_seconds
            late = f"the statement took longer than {seconds:g} s, the server's limit"
            watchdog = loop.call_later(seconds, client.conversation.cancel, late)
            turn = Turn(message, wire.machine, client.conversation.handle)
            try:
                while not turn.is_over:
                    answers = await loop.run_in_executor(self._threads, turn.part, MAX_BUFFERED)
                    await wire.hold(answers)
            finally:
                watchdog.cancel()
                self.counts.messages += turn.taken
            if turn.fault is not None:
                raise turn.fault
            left = turn.left
            if left is None and wire.has_no_more:
                await wire.flush()

    async def _next(self, wire: ConnectionStream) -> f.Message | None:
        try:
            return await wire.take(idle=self._limits.idle_seconds)
        except TimeoutError:
            late = "the connection was idle for too long", self._limits.idle_seconds
            if wire.machine.is_amid:
                late = "a message took too long to arrive", self._limits.message_seconds
            what, seconds = late
            raise TooSlow(f"{what}: for {seconds:g} s, the server's limit") from None

    def _cancel(self, process: int, secret: bytes) -> None:
        self.counts.cancels += 1
        client = self._clients.get(process)
        if client is not None and hmac.compare_digest(client.secret, secret):
            client.conversation.cancel()

    def _number(self) -> int:
        while (number := secrets.randbelow(2**31 - 1) + 1) in self._clients:
            pass
        return number


class _Client:
    """A client that is logged in: its secret for CancelRequest, and whether a statement runs."""

    def __init__(self, conversation: MessageHandler) -> None:
        self.conversation = conversation
        self.secret = secrets.token_bytes(4)
        self.task = _own_task()
        self.is_busy = False


def _own_task() -> asyncio.Task[None]:
    task = asyncio.current_task()
    assert task is not None
    return task
