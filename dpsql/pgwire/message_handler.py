"""One client's statements: messages in, bytes out. Runs in a thread; a statement can be cancelled.

An exception inside a statement becomes an ErrorResponse, and its cause a line in the server's log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, assert_never

from dpsql.errors import NotSupportedError
from dpsql.ledger.storage.waiting import without_waiting
from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.error_response import (
    CANCELLED,
    InFailedTransaction,
    NameTaken,
    TooLarge,
    TooMany,
    fields,
)
from dpsql.pgwire.executor import Executor
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.monitoring.error_log import note
from dpsql.pgwire.monitoring.metrics import Counts
from dpsql.pgwire.portal import Portal, Statement
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import Machine
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.result_messages import described
from dpsql.pgwire.session_settings import SessionSettings
from dpsql.pgwire.sql.commands import End, Query, Savepoint, read_command
from dpsql.sqltext.split import Piece, split

_SLOW_SECONDS: Final = 0.005
"""Of the processor: other processes and threads take turns with a look, which isn't its fault."""

_WAITED_SECONDS: Final = 0.1
_RESTS: Final = 100
"""Where a look took so long, as of a source of very many files, threads answer the next ones."""

_UNNAMED: Final = f.Describe("P", "")
_BEHIND_BIND: Final = 3
"""Describe, Execute and Sync."""

_MAX_VALUES: Final = 10_000
"""Bytes of parameters: to read long arrays and numbers takes others' time."""


class MessageHandler:
    """Answers one client's messages, with its prepared statements, portals and transaction."""

    def __init__(
        self, service: QueryService, settings: SessionSettings, limits: Limits, counts: Counts
    ) -> None:
        self._counts = counts
        self._settings = settings
        self._limits = limits
        self._analyst = service.analyst
        self._running = Executor(service, settings, limits)
        self._immediate = ImmediateAnswers(self._running, limits.portals)

    def handle(self, message: f.Message, skip: Callable[[], None]) -> Iterator[bytes]:
        """The server's messages that answer `message`.

        `skip` is called when a message of the extended protocol fails, so that the messages up to
        Sync are skipped.
        """
        try:
            match message:
                case f.Query(sql=sql):
                    yield from self._simple(sql)
                case f.Sync():
                    self._running.drop_portals()
                    yield b.ready(self._settings.status)
                case f.Flush() | f.CopyInput():
                    return
                case _:
                    yield from self._extended(message)
        except Exception as error:  # noqa: BLE001 - the client is told, without data
            yield self._failed(error)
            if isinstance(message, f.Query | f.FunctionCall | f.Oversized):
                yield b.ready(self._settings.status)
            else:
                skip()

    def at_once(self, message: f.Message, machine: Machine) -> bytes | None:
        """The whole answer of a query that was answered before; None if a thread has to look.

        Messages behind `message` that belong to the query are taken from `machine` only if it is
        answered. It is called on the event loop, and never waits.
        """
        ahead = machine.ahead(_BEHIND_BIND) if isinstance(message, f.Bind) else []
        failed = self._settings.status == "E"
        parts = None if failed else self._immediate.answer([message, *ahead])
        if parts is None:
            return None
        for _ in ahead:
            machine.take()
        self._counts.messages += 1 + len(ahead)
        self._running.drop_portals()
        return b"".join([*parts, b.ready(self._settings.status)])

    def begin(self) -> None:
        """Apply the dpsql.* settings that came with the login."""
        self._running.begin()

    def cancel(self, why: str = CANCELLED) -> None:
        """Stop the statement that runs now; its error says `why`. Called from another thread."""
        self._running.cancel(why)

    def close(self) -> None:
        """Close the portals and the session."""
        self._running.close()

    def _simple(self, text: str) -> Iterator[bytes]:
        self._running.forget_unnamed()
        pieces = split(text)
        if not pieces:
            yield b.EMPTY_QUERY
        for piece in pieces:
            try:
                statement = self._read(piece, ())
                portal = Portal(statement)
                yield from self._running.run(portal, None, with_columns=True)
            except Exception as error:  # noqa: BLE001 - the client is told, without data
                # Positions count characters of the client's whole text, not of one statement.
                yield self._failed(error, piece.start)
                break
        if self._settings.status == "I":
            self._running.drop_portals()
        yield b.ready(self._settings.status)

    def _extended(self, message: f.Message) -> Iterator[bytes]:
        match message:
            case f.Parse(name=name, sql=sql, types=types):
                self._parse(name, sql, types)
                yield b.PARSED
            case f.Bind():
                # A client that prepares once may send no text again for months.
                self._running.renew()
                portal = self._running.bound(message, self._limits.portals)
                self._running.portals[message.portal] = portal
                yield b.BOUND
            case f.Describe(kind="S", name=name):
                statement = self._running.statement(name)
                yield b.parameters(statement.types)
                yield _columns(self._running.describe(statement))
            case f.Describe(name=name):
                portal = self._running.portal(name)
                yield _columns(self._running.describe_portal(portal), portal)
            case f.Execute(portal=name, rows=rows):
                portal = self._running.portal(name)
                yield from self._running.run(portal, rows or None, with_columns=False)
            case f.Close(kind=kind, name=name):
                self._running.forget(kind, name)
                yield b.CLOSED
            case f.FunctionCall():
                raise NotSupportedError("functions are called in SELECT only")
            case f.Oversized(length=length):
                raise TooLarge(
                    f"the message has {length:,} bytes, "
                    f"and {self._limits.message_bytes:,} are taken"
                )
            case (
                f.Startup()
                | f.SslRequest()
                | f.GssRequest()
                | f.CancelRequest()
                | f.Secret()
                | f.Query()
                | f.Flush()
                | f.Sync()
                | f.Terminate()
                | f.CopyInput()
            ):
                raise NotSupportedError("the message means nothing here")
            case missing:
                assert_never(missing)

    def _parse(self, name: str, sql: str, types: tuple[int, ...]) -> None:
        if name and name in self._running.statements:
            raise NameTaken(f"prepared statement {name[:60]} exists already")
        if len(self._running.statements) >= self._limits.statements:
            raise TooMany("too many prepared statements", hint="close some, or connect again")
        pieces = split(sql)
        if len(pieces) > 1:
            raise NotSupportedError("several statements can't be prepared as one")
        piece = pieces[0] if pieces else Piece("", 0)
        self._running.statements[name] = self._read(piece, types)

    def _read(self, piece: Piece, types: tuple[int, ...]) -> Statement:
        self._running.renew()
        known = self._running.known(piece.sql, types)
        command = read_command(piece.sql) if known is None else Query(piece.sql)
        if self._settings.status == "E" and not isinstance(command, End | Savepoint):
            raise InFailedTransaction(
                "the transaction has failed: its statements are ignored until it ends",
                hint="send ROLLBACK",
            )
        if not isinstance(command, Query) or not piece.sql.strip():
            return Statement(command, None, types, piece.start)
        read = self._running.read(command.sql, types) if known is None else known
        return Statement(command, read.query, read.types, piece.start)

    def _failed(self, error: Exception, start: int = 0) -> bytes:
        note(error, self._analyst)
        self._counts.fail(error)
        self._settings.fail()
        return b.error(fields(error, offset=start))


class ImmediateAnswers:
    """The answers of one client's queries that are there at once, since they were given before.

    A thread has to be woken, and takes the interpreter from the threads that prove and charge new
    queries, only to hand out what is there already. So the event loop looks first. Where it would
    have to wait, for a proof, a charge, a worker, a disk or a lock, a thread begins anew: by then,
    nothing was charged or changed.
    """

    def __init__(self, running: Executor, portals: int) -> None:
        self._running = running
        self._portals = portals
        self._rests = 0

    def answer(self, messages: Sequence[f.Message]) -> list[bytes] | None:
        """What answers `messages`, one query answered before; None for all else."""
        if not isinstance(messages[0], f.Query | f.Bind):
            return None
        if self._rests:
            self._rests -= 1
            return None
        began, used = time.perf_counter(), time.thread_time()
        try:
            with without_waiting():
                match messages:
                    case [f.Query(sql=sql)]:
                        return self._simple(sql)
                    case [
                        f.Bind(portal="") as bind,
                        *described,
                        f.Execute(portal="", rows=0),
                        f.Sync(),
                    ] if described in ([], [_UNNAMED]):
                        return self._prepared(bind, is_described=bool(described))
                    case _:
                        return None
        except Exception:  # noqa: BLE001 - the thread that begins anew tells, whatever it is
            return None
        finally:
            waited = time.perf_counter() - began > _WAITED_SECONDS
            if waited or time.thread_time() - used > _SLOW_SECONDS:
                self._rests = _RESTS

    def _simple(self, text: str) -> list[bytes] | None:
        pieces = split(text)
        if len(pieces) != 1:
            return None
        piece, running = pieces[0], self._running
        running.renew()
        known = running.known(piece.sql, ())
        if known is None or known.types:
            return None
        statement = Statement(Query(piece.sql), known.query, (), piece.start)
        parts = list(running.run(Portal(statement), None, with_columns=True))
        running.forget_unnamed()
        return parts

    def _prepared(self, bind: f.Bind, *, is_described: bool) -> list[bytes] | None:
        if sum(len(value or b"") for value in bind.values) > _MAX_VALUES:
            return None
        running = self._running
        running.renew()
        portal = running.bound(bind, self._portals)
        if not isinstance(portal.statement.command, Query):
            return None
        columns = [_columns(running.describe_portal(portal), portal)] if is_described else []
        parts = [b.BOUND, *columns, *running.run(portal, None, with_columns=False)]
        running.portals[""] = portal
        return parts


def _columns(columns: tuple[Column, ...] | None, portal: Portal | None = None) -> bytes:
    if columns is None:
        return b.NO_DATA
    return described(columns, portal)
