"""The statement that a connection runs now: whether it was stopped, and whether it was charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsql.errors import Error, ExecutionCancelled, ExecutionFailed, LedgerFault, SourceFault
from dpsql.pgwire.error_response import Cancelled
from dpsql.session.interruptible import RUNNING


class RunningStatement:
    """One connection's statement: its session tells each step, and another thread may stop it."""

    def __init__(self, note: Callable[[Error], None]) -> None:
        """`note` tells the operator of causes that the client isn't told."""
        self._note = note
        self._charged = False
        self._stopped = ""

    def progress(self, step: str) -> None:
        """Note that `step` begins; ExecutionCancelled if the statement was stopped before it."""
        if self._stopped:
            raise ExecutionCancelled
        self._charged = self._charged or step == RUNNING

    def stop(self, why: str) -> None:
        """Have the error of the statement say `why`; called from another thread."""
        self._stopped = why

    @contextmanager
    def telling_charges(self) -> Iterator[None]:
        """Within it, one statement runs, whose errors say what became of its charge."""
        # A cancel that came while no statement ran has no effect on the next statement.
        self._stopped, self._charged = "", False
        try:
            yield
        except ExecutionFailed as error:
            if not self._stopped:
                raise
            stands = "its charge stands" if self._charged else "nothing was charged"
            raise Cancelled(f"{self._stopped}; {stands}") from error
        except LedgerFault as error:
            if self._charged and not error.charge:
                error.charge = "SHOW dpsql.queries tells whether it was charged"
            raise
        except SourceFault as error:
            if not self._charged:
                raise
            self._note(error)
            raise ExecutionFailed from None
