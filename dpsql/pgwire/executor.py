"""Runs one connection's statements: each command's answer, its portals, cursors and settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from dpsql.bind.statement import NO_PARAMETERS
from dpsql.errors import Error, Refused, Span
from dpsql.pgwire.answering.result_messages import described, encoded, reported
from dpsql.pgwire.codec.copy import copied
from dpsql.pgwire.codec.oid import TEXT, Column
from dpsql.pgwire.codec.parameter import constant
from dpsql.pgwire.error_response import (
    InFailedTransaction,
    NameTaken,
    TooMany,
    WrongCount,
    notice,
)
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.named_objects import NamedObjects, named_type
from dpsql.pgwire.portal import Answer, Portal, Rows, Statement
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.session_settings import SessionSettings
from dpsql.pgwire.sql import commands as c
from dpsql.pgwire.sql.cursor_statement import Declare, Fetch
from dpsql.pgwire.sql.translation_cache import ReadQuery

_NOWHERE: Final = Span(0, 0)


class Executor(NamedObjects):
    """One client's prepared statements and portals, by name, and how they are run."""

    def __init__(self, service: QueryService, settings: SessionSettings, limits: Limits) -> None:
        super().__init__(settings)
        self._service = service
        self._limits = limits

    def begin(self) -> None:
        """Apply the dpsql.* settings that came with the login."""
        self._apply_own()

    def renew(self) -> None:
        """Use the schema as its file is now, in a transaction, too.

        Whoever doesn't end one would go on reading what the owner has taken back since.
        """
        self._service.reload()

    def known(self, sql: str, types: tuple[int, ...]) -> ReadQuery | None:
        """What `read` makes of `sql`, if it was read before; None for what isn't a query."""
        return self._service.reader.known(sql, types)

    def read(self, sql: str, types: tuple[int, ...] = ()) -> ReadQuery:
        """A query in both dialects, with its parameters' types, declared to be of `types`."""
        return self._service.reader.read(sql, types)

    def cancel(self, why: str) -> None:
        """Stop the statement that runs now; its error says `why`."""
        self._service.cancel(why)

    def close(self) -> None:
        """Close the portals and the session."""
        self.portals.clear()
        self._service.close()

    def describe(self, statement: Statement) -> tuple[Column, ...] | None:
        """The columns of a statement before its parameters are bound, None if it has none."""
        if statement.columns is None:
            statement.columns = self._columns(statement, None)
        return statement.columns

    def describe_portal(self, portal: Portal) -> tuple[Column, ...] | None:
        """The columns of a portal, None if it has none; its rows are sent with these columns."""
        if portal.columns is None:
            described_before = portal.statement.columns
            portal.columns = described_before or self._columns(portal.statement, portal)
        return portal.columns

    def run(self, portal: Portal, count: int | None, *, with_columns: bool) -> Iterator[bytes]:
        """Messages of a portal that is run or resumed: at most `count` rows, None for all."""
        statement = portal.statement
        if self._settings.status == "E" and not isinstance(statement.command, c.End | c.Savepoint):
            raise InFailedTransaction(
                "the transaction has failed: its statements are ignored until it ends",
                hint="send ROLLBACK",
            )
        match statement.command:
            case c.Query() if statement.query is None:
                yield b.EMPTY_QUERY
            case c.Query():
                yield from self._query(portal, count, with_columns=with_columns)
            case c.Show(name=name):
                columns, rows = self._show(name)
                answer = Answer(columns, rows)
                yield from self._rows(portal, answer, None, with_columns=with_columns)
                yield b.complete("SHOW")
            case c.Execute():
                executed = self._executed(statement.command, portal)
                yield from self._query(executed, None, with_columns=with_columns)
            case Fetch():
                yield from self._fetch(portal, statement.command, with_columns=with_columns)
            case c.Copy():
                yield from self._copy(statement.command)
            case c.DpsqlCommand(sql=sql, tag=tag):
                self._service.execute(sql)
                yield b.complete(tag)
            case other:
                yield from self._session_command(other)

    def _session_command(self, command: c.Command) -> Iterator[bytes]:
        settings = self._settings
        match command:
            case c.Begin(tag=tag):
                if settings.status != "I":
                    yield b.notice(notice("there is a transaction already", sqlstate="25001"))
                settings.begin()
                yield b.complete(tag)
            case c.End(keeps=keeps):
                failed = settings.status == "E"
                yield from reported(settings.end(keeps=keeps))
                self._apply_own()
                self.drop_portals()
                yield b.complete("COMMIT" if keeps and not failed else "ROLLBACK")
            case c.Savepoint(tag=tag, returns=returns):
                if returns:
                    settings.recover()
                elif settings.status == "E":
                    raise InFailedTransaction("the transaction has failed", hint="send ROLLBACK")
                yield b.complete(tag)
            case c.Set():
                yield from self._set(command)
            case c.Discard(what=what):
                if what == "all":
                    self.statements.clear()
                    self.portals.clear()
                    yield from reported(settings.set("all", None, _NOWHERE))
                    self._apply_own()
                yield b.complete(f"DISCARD {what.upper()}")
            case c.Deallocate(name=name):
                self.deallocate(name)
                yield b.complete("DEALLOCATE" if name else "DEALLOCATE ALL")
            case c.Prepare():
                self._prepare(command)
                yield b.complete("PREPARE")
            case Declare():
                self._declare(command)
                yield b.complete("DECLARE CURSOR")
            case c.CloseCursor(name=name):
                self.close_cursor(name)
                yield b.complete("CLOSE CURSOR" if name else "CLOSE CURSOR ALL")
            case c.NoOp(tag=tag):
                yield b.complete(tag)
            case c.Query() | c.Show() | c.Execute() | Fetch() | c.Copy() | c.DpsqlCommand():
                raise AssertionError
            case missing:
                assert_never(missing)

    def _set(self, command: c.Set) -> Iterator[bytes]:
        name = command.name.casefold()  # quoted, too, as in PostgreSQL
        try:
            if name.startswith("dpsql."):
                self._service.set(name, command.value)
        except Error as error:
            error.at = command.at
            raise
        changed = self._settings.set(name, command.value, command.at, local=command.local)
        if name == "all":
            self._apply_own()
        yield from reported(changed)
        yield b.complete(command.tag)

    def _apply_own(self) -> None:
        self._service.apply(self._settings.own())

    def _show(self, name: str) -> tuple[tuple[Column, ...], Rows]:
        if name == "all":
            columns = (Column("name", TEXT), Column("setting", TEXT), Column("description", TEXT))
            return columns, [(key, self._settings[key], "") for key in self._settings]
        if name.startswith("dpsql."):
            return self._service.shown(name)
        return (Column(self._settings.name(name), TEXT),), [(self._settings[name],)]

    def _query(self, portal: Portal, count: int | None, *, with_columns: bool) -> Iterator[bytes]:
        begun = portal.answer is not None
        answer = self._answered(portal)
        if not begun:
            for fields in answer.notices:
                yield b.notice(fields)
        yield from self._rows(portal, answer, count, with_columns=with_columns)
        if count is not None and not portal.is_exhausted:
            yield b.SUSPENDED
        else:
            yield b.complete(f"SELECT {portal.read}")

    def _answered(self, portal: Portal) -> Answer:
        """The portal's answer: its first reading is charged, and the portal stores it."""
        if portal.answer is None:
            query = portal.statement.query
            assert query is not None
            portal.answer = self._service.query(query, portal.parameters)
        return portal.answer

    def _rows(
        self, portal: Portal, answer: Answer, count: int | None, *, with_columns: bool
    ) -> Iterator[bytes]:
        portal.answer = answer
        columns = portal.columns or portal.statement.columns or answer.columns
        if len(columns) != len(answer.columns):
            columns = answer.columns
        if with_columns:
            yield described(columns, portal)
        yield from encoded(columns, portal, portal.take(count))

    def _prepare(self, command: c.Prepare) -> None:
        if command.name in self.statements:
            raise NameTaken(f"prepared statement {command.name[:60]} exists already")
        if len(self.statements) >= self._limits.statements:
            raise TooMany("too many prepared statements", hint="close some, or connect again")
        oids = tuple(map(named_type, command.types))
        read = self.read(command.sql, oids)
        prepared = Statement(c.Query(command.sql), read.query, read.types, command.start)
        self.describe(prepared)  # a query that is refused fails here, as in PostgreSQL
        self.statements[command.name] = prepared

    def _executed(self, command: c.Execute, portal: Portal) -> Portal:
        """The portal of the prepared statement that EXECUTE names, with its constants."""
        prepared = self.statement(command.name)
        if prepared.query is None:
            raise Refused("EXECUTE runs queries alone here", hint="send the command itself")
        if len(command.values) != len(prepared.types):
            raise WrongCount(
                f"{len(command.values)} parameters are given, and {len(prepared.types)} are asked"
            )
        numbered = enumerate(zip(command.values, prepared.types, strict=True), 1)
        values = {
            str(n): constant(n, None if text is None else text.encode(), oid, 0)
            for n, (text, oid) in numbered
        }
        return Portal(prepared, values, portal.formats)

    def _declare(self, command: Declare) -> None:
        if command.name in self.portals:
            raise NameTaken(f"cursor {command.name[:60]} exists already")
        if len(self.portals) >= self._limits.portals:
            raise TooMany("too many cursors", hint="close some")
        read = self.read(command.sql)
        statement = Statement(c.Query(command.sql), read.query, read.types, command.start)
        hold = command.hold or self._settings.status == "I"
        portal = Portal(statement, hold=hold, goes_back=command.goes_back)
        # A query that is refused fails here, at DECLARE, before anything is charged.
        self.describe_portal(portal)
        self.portals[command.name] = portal

    def _fetch(self, portal: Portal, command: Fetch, *, with_columns: bool) -> Iterator[bytes]:
        cursor = self.portal(command.name)
        columns = self.describe_portal(cursor) or ()
        begun = cursor.answer is not None
        answer = self._answered(cursor)
        for fields in () if begun else answer.notices:
            yield b.notice(fields)
        rows = cursor.fetched(command.direction, command.count)
        if command.moves:
            yield b.complete(f"MOVE {len(rows)}")
            return
        if with_columns:
            yield described(columns, portal)
        yield from encoded(columns, portal, rows)
        yield b.complete(f"FETCH {len(rows)}")

    def _copy(self, command: c.Copy) -> Iterator[bytes]:
        query = self.read(command.sql).query
        answer = self._service.query(query, NO_PARAMETERS)
        for fields in answer.notices:
            yield b.notice(fields)
        is_binary = command.options.form == "binary"
        yield b.copy_out(len(answer.columns), binary=is_binary)
        for data in copied(answer.columns, answer.rows, command.options):
            yield b.copy_data(data)
        yield b.COPY_DONE
        yield b.complete(f"COPY {len(answer.rows)}")

    def _columns(self, statement: Statement, portal: Portal | None) -> tuple[Column, ...] | None:
        match statement.command:
            case c.Query() if statement.query is not None:
                parameters = None if portal is None else portal.parameters
                return self._service.columns(statement.query, statement.types, parameters)
            case c.Show(name=name):
                return self._show(name)[0]
            case c.Execute() as command:
                return self.describe_portal(self._executed(command, portal or Portal(statement)))
            case Fetch(name=name, moves=False):
                return self.describe_portal(self.portal(name))
            case _:
                return None
