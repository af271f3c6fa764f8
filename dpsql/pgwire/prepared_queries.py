"""One connection's prepared queries and cursors: how they are read, described and answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpsql.errors import Error, Refused, Span
from dpsql.pgwire.codec.oid import TEXT, Column
from dpsql.pgwire.codec.parameter import constant
from dpsql.pgwire.error_response import CursorExists, NameTaken, TooMany, WrongCount
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.named_objects import NamedObjects, named_type
from dpsql.pgwire.portal import Answer, Portal, Rows, Statement
from dpsql.pgwire.query_service import ParameterValues, QueryService
from dpsql.pgwire.settings.session_settings import SessionSettings
from dpsql.pgwire.sql import commands as c
from dpsql.pgwire.sql.cursor_statement import Declare, Fetch
from dpsql.pgwire.sql.translate import Translated
from dpsql.pgwire.sql.translation_cache import ReadQuery


@contextmanager
def positions_from(start: int) -> Iterator[None]:
    """Errors of a query point into the statement around it, where it begins at `start`."""
    try:
        yield
    except Error as error:
        if error.at is not None:
            error.at = Span(error.at.start + start, error.at.end + start)
        raise


class PreparedQueries(NamedObjects):
    """One client's prepared statements and portals, with what their queries mean."""

    def __init__(self, service: QueryService, settings: SessionSettings, limits: Limits) -> None:
        super().__init__(settings)
        self._service = service
        self._limits = limits

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

    def results(self, command: c.Command) -> tuple[int, ...]:
        """Formats of a simple query's columns: text, but binary of a BINARY cursor's FETCH."""
        cursor = self.portals.get(command.name) if isinstance(command, Fetch) else None
        return (1,) if cursor is not None and cursor.binary else ()

    def _answered(self, portal: Portal) -> Answer:
        """The portal's answer: its first reading is charged, and the portal stores it."""
        if portal.answer is None:
            query = portal.statement.query
            assert query is not None
            portal.answer = self._held_answer(query, portal.parameters)
        return portal.answer

    def _held_answer(self, query: Translated, parameters: ParameterValues) -> Answer:
        """The answer of `query`, which is charged, and held as long as it is referred to."""
        answer = self._service.query(query, parameters)
        self._service.held.add(self._service.analyst, answer)
        return answer

    def _show(self, name: str) -> tuple[tuple[Column, ...], Rows]:
        if name == "all":
            columns = (Column("name", TEXT), Column("setting", TEXT), Column("description", TEXT))
            return columns, [(key, self._settings[key], "") for key in self._settings]
        if name.startswith("dpsql."):
            return self._service.shown(name)
        return (Column(self._settings.name(name), TEXT),), [(self._settings[name],)]

    def _prepare(self, command: c.Prepare) -> None:
        if command.name in self.statements:
            raise NameTaken(f"prepared statement {command.name[:60]} exists already")
        if len(self.statements) >= self._limits.statements:
            raise TooMany("too many prepared statements", hint="close some, or connect again")
        oids = tuple(map(named_type, command.types))
        with positions_from(command.start):
            read = self.read(command.sql, oids)
            prepared = Statement(c.Query(command.sql), read.query, read.types, command.start)
            self.describe(prepared)  # a query that is refused fails here, as in PostgreSQL
        self.statements[command.name] = prepared

    def _executed(self, command: c.Execute, portal: Portal) -> Portal:
        """The portal of the prepared statement that EXECUTE names, with its constants."""
        prepared = self.statement(command.name)
        if not prepared.is_query:
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

    def _declare(self, command: Declare, portal: Portal) -> None:
        if command.name in self.portals:
            raise CursorExists(f"cursor {command.name[:60]} exists already")
        if len(self.portals) >= self._limits.portals:
            raise TooMany("too many cursors", hint="close some")
        declared = portal.statement
        statement = Statement(c.Query(command.sql), declared.query, declared.types, command.start)
        hold = command.hold or self._settings.status == "I"
        cursor = Portal(
            statement,
            portal.parameters,
            hold=hold,
            goes_back=command.goes_back,
            binary=command.binary,
        )
        # A query that is refused fails here, at DECLARE, before anything is charged.
        with positions_from(command.start):
            self.describe_portal(cursor)
        self.portals[command.name] = cursor

    def _columns(self, statement: Statement, portal: Portal | None) -> tuple[Column, ...] | None:
        match statement.command:
            case c.Query() if statement.query is not None:
                parameters = None if portal is None else portal.parameters
                return self._service.columns(statement.query, statement.types, parameters)
            case c.Show(name=name):
                return self._show(name)[0]
            case c.Execute() as command:
                return self.describe_portal(self._executed(command, portal or Portal(statement)))
            case Fetch(name=name, moves=False) if name in self.portals:
                return self.describe_portal(self.portals[name])
            case _:
                return None
