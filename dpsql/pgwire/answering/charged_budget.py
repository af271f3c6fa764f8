"""The budget that is told beside an answer: as the charge of that answer left it.

What is left at the moment when the answer is told may be less, by charges of others that came
later. The balances are those of the charge's own transaction, so that they aren't read again, and
what they mean in ε is computed while a worker runs the statement.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.ledger.caps import Balances
from dpsql.report.budget import Budget, budget_of
from dpsql.schema.model import Schema


class ChargedBudget:
    """One connection's, which runs one statement at a time."""

    def __init__(self, schema: Schema, analyst: str) -> None:
        self._schema = schema
        self._analyst = analyst
        self._epsilon = Fraction(0)
        self._left: Callable[[], Balances] | None = None
        self._budget: Budget | None = None

    def begin(self, epsilon: Fraction) -> None:
        """A statement begins, of a connection whose queries spend `epsilon` by default."""
        self._epsilon = epsilon
        self._left = self._budget = None

    def charged(self, left: Callable[[], Balances]) -> None:
        """The statement was charged, which has `left` so much; the last of its charges counts."""
        self._left, self._budget = left, None

    def compute(self) -> None:
        """Compute what will be told, if the statement was charged."""
        if self._left is not None and self._budget is None:
            self._budget = budget_of(self._schema, self._analyst, self._epsilon, *self._left())

    def budget(self) -> Budget | None:
        """What is told; None if nothing was charged."""
        self.compute()
        return self._budget
