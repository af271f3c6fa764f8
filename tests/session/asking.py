"""A session that is asked under options which last, as those of a connection do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.ledger.caps import Balance
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.explain.error_curve import Sweep
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.options import DEFAULT_OPTIONS, PriceOptions, QueryOptions
from dpsql.session.session import Session
from dpsql.structs import replace


@dataclass(slots=True)
class Asking:
    """`options` hold for all statements to come."""

    session: Session
    options: QueryOptions = DEFAULT_OPTIONS

    def meet(self, max_error: Fraction | None) -> None:
        """Errors are to be no larger from now on."""
        self.options = replace(self.options, price=PriceOptions(max_error))

    def query(self, sql: str, epsilon: str | Fraction | None = None) -> Answer:
        if epsilon is None:
            return self.session.query(sql, self.options)
        return self.session.query(sql, replace(self.options, epsilon=Fraction(epsilon)))

    def compile(self, sql: str) -> CompiledStatement:
        return self.session.compile(sql, self.options)

    def explain(self, sql: str) -> PrivacyReport:
        return self.session.explain(sql, self.options)

    def sweep(self, sql: str, epsilons: Sequence[Fraction]) -> Sweep:
        return self.session.sweep(sql, epsilons, self.options)

    def share(self, sql: str) -> Fraction:
        return self.session.share(sql, self.options)

    def balance(self) -> Balance:
        return self.session.balance()

    def close(self) -> None:
        self.session.close()
