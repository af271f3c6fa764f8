"""Errors as PostgreSQL's clients read them: severity, SQLSTATE, message, detail, hint, position."""

from __future__ import annotations

from typing import Final

from dpsql.errors import Error, InternalError, OperationalError, ProgrammingError

CANCELLED: Final = "the statement was cancelled"


class Cancelled(OperationalError):
    """The statement was cancelled, by its client or because it took too long."""

    sqlstate = "57014"


class InFailedTransaction(OperationalError):
    """A statement came in a failed transaction, in which only its end is taken."""

    sqlstate = "25P02"


class UnknownStatement(ProgrammingError):
    """No prepared statement has that name."""

    sqlstate = "26000"


class UnknownCursor(ProgrammingError):
    """No portal or cursor has that name."""

    sqlstate = "34000"


class NameTaken(ProgrammingError):
    """A prepared statement of that name exists already."""

    sqlstate = "42P05"


class CursorExists(ProgrammingError):
    """A portal or cursor of that name exists already."""

    sqlstate = "42P03"


class OnlyForward(OperationalError):
    """A cursor that was declared NO SCROLL can't go back."""

    sqlstate = "55000"


class UnknownType(ProgrammingError):
    """There is no type of that name."""

    sqlstate = "42704"


class WrongCount(ProgrammingError):
    """EXECUTE has more or fewer values than its statement has parameters."""

    sqlstate = "42601"


class LoginFailed(OperationalError):
    """The login failed: a wrong password, no user, or no encryption."""

    sqlstate = "28P01"


class TooMany(OperationalError):
    """More connections, statements or cursors than are allowed."""

    sqlstate = "53300"


class TooLarge(OperationalError):
    """A message, or an answer about the catalogue, is larger than its limit."""

    sqlstate = "54000"


class Stopping(OperationalError):
    """The connection ends because the server stops."""

    sqlstate = "57P01"


class TooSlow(OperationalError):
    """The connection ends because its client took too long: to log in, to send, or idly."""

    sqlstate = "57P05"


def fields(error: BaseException, *, offset: int = 0, severity: str = "ERROR") -> dict[str, str]:
    """The fields of an ErrorResponse, by their letters, as an analyst may read them.

    Of an exception that isn't dpsql's own only its class is named, and an error whose cause is for
    the owner alone has its text `instead`. `offset` is added to the error's position: the statement
    begins there in the client's text.
    """
    if not isinstance(error, Error):
        error = InternalError(f"dpsql failed by a fault of its own ({type(error).__name__})")
    response = {"S": severity, "V": severity, "C": error.sqlstate}
    if error.instead:
        message = f"{error.instead}; {error.charge}" if error.charge else error.instead
        return response | {"M": message, "H": error.instead_hint}
    response["M"] = error.message
    if error.detail:
        response["D"] = error.detail
    if error.hint:
        response["H"] = error.hint
    if error.position is not None:
        response["P"] = str(error.position + offset)
    return response


def notice(message: str, *, detail: str = "", sqlstate: str = "00000") -> dict[str, str]:
    """The fields of a NoticeResponse, by their letters."""
    response = {"S": "NOTICE", "V": "NOTICE", "C": sqlstate, "M": message}
    return response | ({"D": detail} if detail else {})
