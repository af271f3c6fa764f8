"""Errors as PostgreSQL's clients read them: severity, SQLSTATE, message, detail, hint, position."""

from __future__ import annotations

from dpsql.errors import Error, InternalError, OperationalError, ProgrammingError


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
    """The connection ends because the server does, or because it was idle for too long."""

    sqlstate = "57P01"


def fields(error: BaseException, *, offset: int = 0, severity: str = "ERROR") -> dict[str, str]:
    """The fields of an ErrorResponse; what isn't dpsql's own error says nothing of itself."""
    if not isinstance(error, Error):
        error = InternalError(f"dpsql failed by a fault of its own ({type(error).__name__})")
    found = {"S": severity, "V": severity, "C": error.sqlstate, "M": error.message}
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
