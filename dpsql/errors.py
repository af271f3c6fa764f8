"""Every way dpsql says no: one class per reason, each with a PEP 249 parent and an SQLSTATE.

A message says what is wrong and where; `hint` says what to write instead. None is ever made from
private rows: before data are read errors speak of the SQL and the schema, and `ExecutionFailed`,
which alone comes after that, says nothing.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from msgspec import Struct


class Span(Struct, frozen=True):
    """Where in the statement: offsets of the first character and of the one after the last."""

    start: int
    end: int


class Warning(Exception):  # noqa: A001 - PEP 249 names it so
    """Important warnings; dpsql raises none, PEP 249 asks for the name."""


class Error(Exception):
    """Base of all errors of dpsql (PEP 249).

    `sqlstate` is PostgreSQL's five-character code, `at` the place in the statement (None when the
    fault isn't in a statement), `detail` says more, `hint` what to write instead, and `note` names
    the page of grammar_notes/ that argues it, or a `page#section`. `fix`, written in the place of
    `at`, makes it a statement that means the same and is answered. `statement` counts those of a
    batch from 1: None is all of it, or no batch.

    Text for an owner, of files and settings, has another one for analysts of a server: `instead`
    and `instead_hint`, empty where it is theirs. `charge` says to both what became of one.
    """

    sqlstate: ClassVar[str] = "XX000"
    instead: ClassVar[str] = ""
    instead_hint: ClassVar[str] = "ask later; the cause is in the server's log, for its operator"

    def __init__(
        self,
        message: str,
        *,
        at: Span | None = None,
        detail: str = "",
        hint: str = "",
        note: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.detail = detail
        self.hint = hint
        self.note = note
        self.fix = fix
        self.charge = ""
        self.statement: int | None = None

    def __str__(self) -> str:
        # Tools show this text alone.
        lines = (("", self.message), ("detail: ", self.detail), ("hint: ", self.hint))
        return "\n".join(
            head + text for head, text in lines if not head or (text and text not in self.message)
        )

    @property
    def position(self) -> int | None:
        """The 1-based character position in the statement, as PostgreSQL counts it."""
        return None if self.at is None else self.at.start + 1

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross the worker's process boundary; pickle has no keyword-only arguments.
        others = {n: getattr(self, n) for n in ("at", "detail", "hint", "note", "fix")}
        return partial(type(self), self.message, **others), ()


class InterfaceError(Error):
    """The interface was misused: a closed cursor, a wrong number of parameters (PEP 249)."""

    sqlstate = "08003"


class DatabaseError(Error):
    """Base of errors of the database (PEP 249)."""


class DataError(DatabaseError):
    """A value that can't be processed (PEP 249)."""

    sqlstate = "22000"


class SeveralRows(DataError):
    """A subquery that stands for one value has several rows."""

    sqlstate = "21000"


class OperationalError(DatabaseError):
    """The database can't do it now: a missing source, a spent budget (PEP 249)."""

    sqlstate = "58000"


class IntegrityError(DatabaseError):
    """A constraint is violated (PEP 249)."""

    sqlstate = "23000"


class InternalError(DatabaseError):
    """dpsql itself is at fault (PEP 249)."""


class ProgrammingError(DatabaseError):
    """The statement is at fault (PEP 249)."""

    sqlstate = "42000"


class NotSupportedError(DatabaseError):
    """There is no rule for what was asked (PEP 249)."""

    sqlstate = "0A000"


class SyntaxFault(ProgrammingError):
    """The text is not one SQL statement that can be read."""

    sqlstate = "42601"


class UnknownTable(ProgrammingError):
    """The schema declares no such table."""

    sqlstate = "42P01"


class UnknownColumn(ProgrammingError):
    """No table in scope declares such a column."""

    sqlstate = "42703"


class UnknownFunction(ProgrammingError):
    """No function of that name is on the allow-list."""

    sqlstate = "42883"


class UnknownRelease(ProgrammingError):
    """Nobody keeps a table under that name."""

    sqlstate = "42704"


class NameTaken(ProgrammingError):
    """The name means something else already."""

    sqlstate = "42P07"


class BadName(ProgrammingError):
    """A table can't have that name."""

    sqlstate = "42602"


class DuplicateColumn(ProgrammingError):
    """Two columns of a table would have one name."""

    sqlstate = "42701"


class NotOwner(ProgrammingError):
    """Only who made it may do that."""

    sqlstate = "42501"


class AmbiguousColumn(ProgrammingError):
    """Several tables in scope have such a column."""

    sqlstate = "42702"


class GroupingFault(ProgrammingError):
    """A column is neither grouped by nor aggregated."""

    sqlstate = "42803"


class TypeFault(ProgrammingError):
    """An operator or function is applied to types it doesn't take."""

    sqlstate = "42804"


class BadParameter(ProgrammingError):
    """A setting or a query parameter is out of its range."""

    sqlstate = "22023"


class Refused(NotSupportedError):
    """What was asked has no rule that bounds what one privacy unit can change."""


class WouldShowIndividuals(ProgrammingError):
    """The answer would show single privacy units."""

    sqlstate = "42501"


class TooComplex(OperationalError):
    """The statement is longer, deeper or wider than the limits allow."""

    sqlstate = "54001"


class BudgetSpent(OperationalError):
    """The charge would pass a cap of the ledger."""

    sqlstate = "53400"


class QuotaSpent(OperationalError):
    """One analyst keeps no more than so much."""

    sqlstate = "53400"


class OverTarget(OperationalError):
    """The analyst's own targets of error and cost can't be met."""

    sqlstate = "53400"


class LedgerFault(OperationalError):
    """The ledger is missing, damaged, rolled back or of another dataset."""

    sqlstate = "58030"
    instead = "the dataset's budget can't be read or charged now"


class LedgerFull(LedgerFault):
    """The ledger's disk has no room."""

    sqlstate = "53100"


class SchemaFault(ProgrammingError):
    """The schema file is wrong; the message names file, line, path and fix."""

    sqlstate = "F0000"
    document_path: tuple[str | int, ...] = ()
    instead = "the dataset's schema is being changed, and can't be used now"


class SourceFault(OperationalError):
    """The source is missing, or is not what the schema declares."""

    sqlstate = "58P01"
    instead = "the dataset's source can't be read now"


class SourceLocked(SourceFault):
    """Another process has the source open for writing; nothing was read or charged."""

    sqlstate = "55006"
    instead = "the dataset's source is being written by another process: nothing was read"
    instead_hint = "ask again in a minute; if it lasts, the server's log names the file"


class ExecutionFailed(OperationalError):
    """Running the statement failed after it was charged; never says why, since why is data."""

    sqlstate = "XX000"

    def __init__(
        self, message: str = "the query failed while it ran; its charge stands", **parts: Any
    ) -> None:
        super().__init__(message, **parts)


class ExecutionStopped(ExecutionFailed):
    """It ran out of time or memory, or its source or process is gone: it may do another time."""


class ExecutionCancelled(ExecutionFailed):
    """Whoever asked has stopped it."""


class FailedBefore(OperationalError):
    """It was charged and failed on this version of the data, and isn't run, or charged, again."""
