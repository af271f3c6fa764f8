"""Runs one connection's statements: each command's answer, its portals, cursors and settings."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Final, assert_never

from dpsql.bind.statement import NO_PARAMETERS
from dpsql.errors import Error, Span
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.pgwire.answering.result_messages import described, encoded, reported
from dpsql.pgwire.codec.copy import copied
from dpsql.pgwire.codec.parameter import BadValue, truth
from dpsql.pgwire.error_response import InFailedTransaction, notice
from dpsql.pgwire.portal import Answer, Portal, Rows
from dpsql.pgwire.prepared_queries import PreparedQueries, positions_from
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.settings.session_settings import UnknownSetting
from dpsql.pgwire.settings.setting_calls import SettingCall, setting_calls
from dpsql.pgwire.sql import commands as c
from dpsql.pgwire.sql.cursor_statement import Declare, Fetch
from dpsql.pgwire.sql.transaction_statement import (
    Begin,
    End,
    GoBack,
    Release,
    Savepoint,
    SetTransaction,
    TransactionCommand,
)

_NOWHERE: Final = Span(0, 0)


class Executor(PreparedQueries):
    """Runs one client's statements and portals."""

    def begin(self) -> None:
        """Apply the dpsql.* settings that came with the login."""
        self._apply_own()

    def cancel(self, why: str) -> None:
        """Stop the statement that runs now; its error says `why`."""
        self._service.cancel(why)

    def close(self) -> None:
        """Close the portals and the session."""
        self.portals.clear()
        self._service.close()

    def run(self, portal: Portal, count: int | None, *, with_columns: bool) -> Iterator[bytes]:
        """Messages of a portal that is run or resumed: at most `count` rows, None for all."""
        statement = portal.statement
        if self._settings.status == "E" and not isinstance(statement.command, End | GoBack):
            raise InFailedTransaction(
                "the transaction has failed: its statements are ignored until it ends",
                hint="send ROLLBACK",
            )
        match statement.command:
            case c.Query() if statement.query is None:
                yield b.EMPTY_QUERY
            case c.Query():
                if portal.answer is None:
                    yield from self._ask(portal)
                yield from self._send(portal, count, "SELECT", with_columns=with_columns)
            case c.Show(name=name):
                if portal.answer is None:
                    portal.answer = Answer(*self._show(name))
                yield from self._send(portal, count, "SHOW", with_columns=with_columns)
            case c.Execute():
                if portal.answer is None:
                    executed = self._executed(statement.command, portal)
                    yield from self._ask(executed)
                    portal.answer = executed.answer
                yield from self._send(portal, count, "SELECT", with_columns=with_columns)
            case Fetch(moves=True):
                rows = yield from self._fetched(statement.command)
                yield b.complete(f"MOVE {len(rows)}")
            case Fetch():
                if portal.answer is None:
                    rows = yield from self._fetched(statement.command)
                    cursor = self.portal(statement.command.name)
                    columns = self.describe_portal(cursor) or ()
                    portal.answer = Answer(columns, rows, part_of=cursor.answer)
                yield from self._send(portal, count, "FETCH", with_columns=with_columns)
            case c.Copy():
                yield from self._copy(statement.command)
            case c.DpsqlCommand(sql=sql, tag=tag):
                self._service.execute(sql)
                yield b.complete(tag)
            case other:
                yield from self._session_command(other, portal)

    def _session_command(self, command: c.Command, portal: Portal) -> Iterator[bytes]:
        match command:
            case Begin() | SetTransaction() | End() | Savepoint() | Release() | GoBack():
                yield from self._transaction(command)
            case c.Set():
                yield from self._set(command)
            case c.Discard(what=what):
                if what == "all":
                    self.statements.clear()
                    self.portals.clear()
                    yield from reported(self._settings.set("all", None, _NOWHERE))
                    self._apply_own()
                yield b.complete(f"DISCARD {what.upper()}")
            case c.Deallocate(name=name):
                self.deallocate(name)
                yield b.complete("DEALLOCATE" if name else "DEALLOCATE ALL")
            case c.Prepare():
                self._prepare(command)
                yield b.complete("PREPARE")
            case Declare():
                self._declare(command, portal)
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

    def _transaction(self, command: TransactionCommand) -> Iterator[bytes]:
        settings = self._settings
        match command:
            case Begin(tag=tag, modes=modes):
                if settings.status != "I":
                    yield b.notice(notice("there is a transaction already", sqlstate="25001"))
                settings.begin(dict(modes))
                yield b.complete(tag)
            case SetTransaction(modes=modes, follows=follows):
                if not follows and not settings.takes_local:
                    nowhere = "SET TRANSACTION changes nothing outside of a transaction"
                    yield b.notice(notice(nowhere, sqlstate="25P01"))
                settings.set_modes(dict(modes), follows=follows)
                yield b.complete("SET")
            case End(keeps=keeps, chains=chains):
                failed = settings.status == "E"
                if chains:
                    settings.require_transaction("AND CHAIN")
                chained = settings.modes
                yield from reported(settings.end(keeps=keeps))
                self._apply_own()
                self.drop_portals()
                if chains:
                    settings.begin(chained)
                yield b.complete("COMMIT" if keeps and not failed else "ROLLBACK")
            case Savepoint(name=name):
                settings.save(name, frozenset(self.portals))
                yield b.complete("SAVEPOINT")
            case Release(name=name):
                settings.release(name)
                yield b.complete("RELEASE")
            case GoBack(name=name):
                changed, portals = settings.go_back(name)
                yield from reported(changed)
                self._apply_own()
                self.portals = {n: p for n, p in self.portals.items() if n in portals}
                yield b.complete("ROLLBACK")
            case missing:
                assert_never(missing)

    def begin_message(self) -> None:
        """Begin a message of several statements, which stand in one transaction."""
        self._settings.begin_message()

    def end_message(self, *, keeps: bool) -> Iterator[bytes]:
        """End a message of several statements; if they aren't kept, nor is what they have set."""
        own = self._settings.own()
        yield from reported(self._settings.end_message(keeps=keeps))
        if own != self._settings.own():
            self._apply_own()

    def _set(self, command: c.Set) -> Iterator[bytes]:
        if command.local and not self._settings.takes_local:
            nowhere = "SET LOCAL changes nothing outside of a transaction"
            yield b.notice(notice(nowhere, sqlstate="25P01"))
        yield from reported(self._change(command))
        yield b.complete(command.tag)

    def _change(self, command: c.Set) -> Mapping[str, str]:
        """The reported settings that SET or set_config() changes."""
        name = command.name.casefold()  # quoted, too, as in PostgreSQL
        has_effect = not command.local or self._settings.takes_local
        try:
            if name.startswith("dpsql.") and has_effect:
                self._service.set(name, command.value)
        except Error as error:
            error.at = command.at
            raise
        changed = self._settings.set(name, command.value, command.at, local=command.local)
        if name == "all":
            self._apply_own()
        return changed

    def _call_settings(self, calls: tuple[SettingCall, ...], portal: Portal) -> Iterator[bytes]:
        """Answer `portal` by what its calls set and read."""
        check_may_wait()
        values: list[str | None] = []
        for call in calls:
            name, *others = call.arguments
            if name is None:
                values.append(None)
            elif call.sets:
                values.append((yield from self._called(name, *others)))
            else:
                values.append(self._read_setting(name, is_optional=any(map(_is_true, others))))
        portal.answer = Answer(self.describe_portal(portal) or (), (tuple(values),))

    def _called(
        self, name: str, value: str | None, is_local: str | None
    ) -> Generator[bytes, None, str | None]:
        if "." not in name:
            self._settings[name]  # an unknown one raises, "all" among them
        local = _is_true(is_local)
        yield from reported(self._change(c.Set(name, value, _NOWHERE, local)))
        if local and not self._settings.takes_local:
            return value
        return self._read_setting(name, is_optional=True)

    def _read_setting(self, name: str, *, is_optional: bool) -> str | None:
        if name.casefold().startswith("dpsql."):
            _, rows = self._service.shown(name.casefold())
            return None if len(rows) != 1 else str(rows[0][0])
        try:
            return self._settings[name]
        except UnknownSetting:
            if is_optional:
                return None
            raise

    def _apply_own(self) -> None:
        self._service.apply(self._settings.own())

    def _ask(self, portal: Portal) -> Iterator[bytes]:
        """Answer a query's portal; what is sent before its rows."""
        query = portal.statement.query
        calls = () if query is None else setting_calls(query, portal.parameters)
        if calls:
            yield from self._call_settings(calls, portal)
            return
        for fields in self._answered(portal).notices:
            yield b.notice(fields)

    def _send(
        self, portal: Portal, count: int | None, tag: str, *, with_columns: bool
    ) -> Iterator[bytes]:
        """The next `count` rows of a portal's answer, None for all that are left."""
        answer, before = portal.answer, portal.read
        assert answer is not None
        columns = portal.columns or portal.statement.columns or answer.columns
        if len(columns) != len(answer.columns):
            columns = answer.columns
        if with_columns:
            yield described(columns, portal)
        yield from encoded(columns, portal, portal.take(count))
        # As in PostgreSQL: whether rows are left is not looked for, and the tag counts these alone.
        sent = portal.read - before
        whole = tag if tag == "SHOW" else f"{tag} {sent}"
        yield b.SUSPENDED if sent == count else b.complete(whole)

    def _fetched(self, command: Fetch) -> Generator[bytes, None, Rows]:
        """The rows that a FETCH moves over; what is sent before them."""
        cursor = self.portal(command.name)
        self.describe_portal(cursor)
        if cursor.answer is None:
            yield from self._ask(cursor)
        return cursor.fetched(command.direction, command.count)

    def _copy(self, command: c.Copy) -> Iterator[bytes]:
        with positions_from(command.start):
            query = self.read(command.sql).query
            answer = self._held_answer(query, NO_PARAMETERS)
        for fields in answer.notices:
            yield b.notice(fields)
        is_binary = command.options.form == "binary"
        yield b.copy_out(len(answer.columns), binary=is_binary)
        for data in copied(answer.columns, answer.rows, command.options):
            yield b.copy_data(data)
        yield b.COPY_DONE
        yield b.complete(f"COPY {len(answer.rows)}")


def _is_true(text: str | None) -> bool:
    """Whether an argument of set_config() or current_setting() is true; NULL isn't."""
    try:
        return text is not None and truth(text)
    except ValueError:
        raise BadValue("invalid input syntax for type boolean", hint="write true") from None
