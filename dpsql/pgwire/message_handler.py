"""One client's statements: messages in, bytes out. Runs in a thread; a statement can be cancelled.

An exception inside a statement becomes an ErrorResponse, and its cause a line in the server's log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from dpsql.errors import NotSupportedError
from dpsql.pgwire.answering.result_messages import described
from dpsql.pgwire.error_response import (
    CANCELLED,
    InFailedTransaction,
    NameTaken,
    TooLarge,
    TooMany,
    fields,
)
from dpsql.pgwire.executor import Executor
from dpsql.pgwire.immediate_answers import BEHIND, ImmediateAnswers
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.monitoring.error_log import note
from dpsql.pgwire.monitoring.metrics import Counts
from dpsql.pgwire.portal import Portal, Statement
from dpsql.pgwire.prepared_queries import positions_from
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import Machine
from dpsql.pgwire.protocol.violation import ProtocolFault
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.settings.session_settings import SessionSettings
from dpsql.pgwire.sql.commands import Command, Query, read_command
from dpsql.pgwire.sql.cursor_statement import Declare
from dpsql.pgwire.sql.transaction_statement import End, GoBack
from dpsql.sqltext.split import Piece, split


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
        self._immediate = ImmediateAnswers(self._running, service, limits)

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
            # Else a Sync follows, which is answered: a client isn't told twice that it may go on.
            whole = isinstance(message, f.Query | f.FunctionCall)
            if whole or (isinstance(message, f.Oversized | f.Malformed) and message.ends_itself):
                yield b.ready(self._settings.status)
            else:
                skip()

    def at_once(self, message: f.Message, machine: Machine) -> bytes | None:
        """The whole answer of a query that was answered before; None if a thread has to look.

        Messages behind `message` that belong to the query are taken from `machine` only if it is
        answered. It is called on the event loop, and never waits.
        """
        if self._settings.status == "E":
            return None
        behind = BEHIND.get(type(message))
        ahead = [] if behind is None else machine.ahead(behind)
        parts = self._immediate.answer([message, *ahead])
        if parts is None:
            return None
        machine.pass_over(len(ahead))
        self._counts.messages += 1 + len(ahead)
        if ahead and isinstance(ahead[-1], f.Flush):
            return b"".join(parts)
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
        if len(pieces) > 1:
            self._running.begin_message()
        has_failed = False
        for piece in pieces:
            try:
                statement = self._read(piece, ())
                results = self._running.results(statement.command)
                portal = Portal(statement, formats=results)
                yield from self._running.run(portal, None, with_columns=True)
            except Exception as error:  # noqa: BLE001 - the client is told, without data
                # Positions count characters of the client's whole text, not of one statement.
                yield self._failed(error, piece.start)
                has_failed = True
                break
        if len(pieces) > 1:
            yield from self._running.end_message(keeps=not has_failed)
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
                statement = self._running.statement(message.statement)
                self._check_transaction(statement.command)
                portal = self._running.bound(message, statement, self._limits.portals)
                if len(message.results) > 1:
                    self._check_formats(portal)
                self._running.portals[message.portal] = portal
                yield b.BOUND
            case f.Describe(kind="S", name=name):
                statement = self._running.statement(name)
                columns = self._running.describe(statement)
                if columns is not None:
                    self._check_transaction(statement.command)
                yield b.parameters(statement.types)
                yield described(columns, None)
            case f.Describe(name=name):
                portal = self._running.portal(name)
                columns = self._running.describe_portal(portal)
                if columns is not None:
                    self._check_transaction(portal.statement.command)
                yield described(columns, portal)
            case f.Execute(portal=name, rows=rows):
                self._running.renew()  # it may have been bound long before
                portal = self._running.portal(name)
                yield from self._running.run(portal, rows or None, with_columns=False)
            case f.Close(kind=kind, name=name):
                self._running.forget(kind, name)
                yield b.CLOSED
            case f.FunctionCall():
                raise NotSupportedError("functions are called in SELECT only")
            case f.Malformed(fault=fault):
                raise fault
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
        if len(self._running.statements) >= self._limits.statements:
            raise TooMany("too many prepared statements", hint="close some, or connect again")
        pieces = split(sql)
        if len(pieces) > 1:
            raise NotSupportedError("several statements can't be prepared as one")
        statement = self._read(pieces[0] if pieces else Piece("", 0), types)
        if name and name in self._running.statements:
            raise NameTaken(f"prepared statement {name[:60]} exists already")
        self._running.statements[name] = statement

    def _read(self, piece: Piece, types: tuple[int, ...]) -> Statement:
        self._running.renew()
        known = self._running.known(piece.sql, types)
        command = read_command(piece.sql) if known is None else Query(piece.sql)
        is_empty = not piece.sql.strip()
        if not is_empty:
            self._check_transaction(command)
        if isinstance(command, Declare):
            with positions_from(command.start):
                inner = self._running.read(command.sql, types)
            return Statement(command, inner.query, inner.types, piece.start)
        if not isinstance(command, Query) or is_empty:
            return Statement(command, None, types, piece.start)
        read = self._running.read(command.sql, types) if known is None else known
        return Statement(command, read.query, read.types, piece.start)

    def _check_transaction(self, command: Command) -> None:
        """Raise `InFailedTransaction` where the transaction has failed, unless it ends it."""
        if self._settings.status == "E" and not isinstance(command, End | GoBack):
            raise InFailedTransaction(
                "the transaction has failed: its statements are ignored until it ends",
                hint="send ROLLBACK",
            )

    def _check_formats(self, portal: Portal) -> None:
        """Raise `ProtocolFault` unless there are as many formats as columns; one is for all."""
        columns = self._running.describe_portal(portal)
        if columns is not None and len(columns) != len(portal.formats):
            raise ProtocolFault(
                f"{len(portal.formats)} formats of columns are given for {len(columns)} columns"
            )

    def _failed(self, error: Exception, start: int = 0) -> bytes:
        note(error, self._analyst)
        self._counts.fail(error)
        self._settings.fail()
        return b.error(fields(error, offset=start))
