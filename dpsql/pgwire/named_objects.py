"""One connection's prepared statements and portals, by name."""

from __future__ import annotations

from dpsql.pgwire.catalog.functions import type_oid
from dpsql.pgwire.codec.parameter import constant
from dpsql.pgwire.error_response import (
    CursorExists,
    TooMany,
    UnknownCursor,
    UnknownStatement,
    UnknownType,
)
from dpsql.pgwire.portal import Portal, Statement
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.violation import ProtocolFault
from dpsql.pgwire.settings.session_settings import SessionSettings


class NamedObjects:
    """Prepared statements and portals; the names "" are PostgreSQL's unnamed ones."""

    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings
        self.statements: dict[str, Statement] = {}
        self.portals: dict[str, Portal] = {}

    def statement(self, name: str) -> Statement:
        """A prepared statement by its name."""
        if name not in self.statements:
            raise UnknownStatement(f"there is no prepared statement {name[:60]}".rstrip())
        return self.statements[name]

    def portal(self, name: str) -> Portal:
        """A portal or cursor by its name."""
        if name not in self.portals:
            raise UnknownCursor(f"there is no cursor {name[:60]}".rstrip())
        return self.portals[name]

    def bound(self, message: f.Bind, statement: Statement, limit: int) -> Portal:
        """The portal of `statement` that `message` asks for, where there are less than `limit`."""
        if len(message.values) != len(statement.types):
            raise ProtocolFault(
                f"{len(message.values)} parameters are given, and {len(statement.types)} are asked"
            )
        if message.portal and message.portal in self.portals:
            raise CursorExists(f"portal {message.portal[:60]} exists already")
        if len(self.portals) >= limit:
            raise TooMany("too many portals", hint="close some")
        formats = (
            message.formats if len(message.formats) != 1 else message.formats * len(message.values)
        )
        formats = formats or (0,) * len(message.values)
        bound = zip(message.values, statement.types, formats, strict=True)
        values = {
            str(n): constant(n, value, oid, form) for n, (value, oid, form) in enumerate(bound, 1)
        }
        return Portal(statement, values, message.results)

    def forget(self, kind: str, name: str) -> None:
        """Close a statement (`kind` "S") or a portal ("P"); an unknown name is no error."""
        if kind == "S":
            self.statements.pop(name, None)
        else:
            self.portals.pop(name, None)

    def forget_unnamed(self) -> None:
        """Close the unnamed statement and portal, as each simple query does."""
        self.statements.pop("", None)
        self.portals.pop("", None)

    def drop_portals(self) -> None:
        """Outside of a transaction, close all portals but cursors WITH HOLD."""
        if self._settings.status == "I":
            self.portals = {name: p for name, p in self.portals.items() if p.hold}

    def deallocate(self, name: str | None) -> None:
        """DEALLOCATE: forget a prepared statement, all of them if `name` is None."""
        if name is None:
            self.statements.clear()
        elif self.statements.pop(name, None) is None:
            raise UnknownStatement(f"there is no prepared statement {name[:60]}")

    def close_cursor(self, name: str | None) -> None:
        """CLOSE: forget a cursor, all of them if `name` is None."""
        if name is None:
            self.portals.clear()
        elif self.portals.pop(name, None) is None:
            raise UnknownCursor(f"there is no cursor {name[:60]}")


def named_type(name: str) -> int:
    """The OID of a type by its name; `UnknownType` if there is none."""
    oid = type_oid(name)
    if oid is None:
        raise UnknownType(f"there is no type {name[:60]}", hint="write integer, or text")
    return oid
