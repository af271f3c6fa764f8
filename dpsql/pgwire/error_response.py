"""Errors as PostgreSQL's clients read them: severity, SQLSTATE, message, detail, hint, position."""

from __future__ import annotations

from typing import Final

from dpsql.errors import Error, InternalError, OperationalError, ProgrammingError

CANCELLED: Final = "the statement was cancelled"


class Cancelled(OperationalError):
    """The statement was cancelled, by its client or because it took too long."""

    sqlstate = "57014"


class InFailedTransaction(OperationalError):
    """After an error, only the end of the transaction is taken."""

    sqlstate = "25P02"


class UnknownStatement(ProgrammingError):
    """No prepared statement has that name."""

    sqlstate = "26000"


class UnknownCursor(ProgrammingError):
    """No portal or cursor has that name."""

    sqlstate = "34000"


class NameTaken(ProgrammingError):
    """A prepared statement or cursor of that name is there already."""

    sqlstate = "42P05"


class LoginFailed(OperationalError):
    """Who connects isn't who it says."""

    sqlstate = "28P01"


class TooMany(OperationalError):
    """More connections, statements or cursors than are allowed."""

    sqlstate = "53300"


class TooLarge(OperationalError):
    """A message is longer than is taken."""

    sqlstate = "54000"


class Stopping(OperationalError):
    """The connection ends because the server does."""

    sqlstate = "57P01"


class TooSlow(OperationalError):
    """The connection ends because its client took too long: to log in, to send, or idly."""

    sqlstate = "57P05"


def fields(error: BaseException, *, offset: int = 0, severity: str = "ERROR") -> dict[str, str]:
    """The fields of an ErrorResponse, for an analyst.

    What isn't dpsql's own error says nothing of itself, and what its owner reads isn't said.
    """
    if not isinstance(error, Error):
        error = InternalError(f"dpsql failed by a fault of its own ({type(error).__name__})")
    found = {"S": severity, "V": severity, "C": error.sqlstate}
    if error.instead:
        told = f"{error.instead}; {error.charge}" if error.charge else error.instead
        return found | {"M": told, "H": error.instead_hint}
    found["M"] = error.message
    if error.detail:
        found["D"] = error.detail
    if error.hint:
        found["H"] = error.hint
    if error.position is not None:
        found["P"] = str(error.position + offset)
    return found


def notice(message: str, *, detail: str = "", sqlstate: str = "00000") -> dict[str, str]:
    """The fields of a NoticeResponse."""
    found = {"S": "NOTICE", "V": "NOTICE", "C": sqlstate, "M": message}
    return found | ({"D": detail} if detail else {})
