"""One analyst's alerts: made, checked, explained and listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.bind.statement import NO_PARAMETERS, Statement
from dpsql.session.alerts.check import check_alert, check_policy
from dpsql.session.alerts.check_log import CheckHistory
from dpsql.session.alerts.create import create_alert
from dpsql.session.alerts.saved_alerts import SavedAlert, saved_alert, saved_alerts
from dpsql.session.alerts.stored_alert import AlertSpec
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.compile import compile_for_look, compile_statement
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.explain.explain import explain
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.options import PriceOptions, QueryOptions

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


class Alerts:
    """The alerts of one session; `inspect` may refuse a statement that is to be answered."""

    def __init__(
        self, context: SessionContext, inspect: Callable[[CompiledStatement], None]
    ) -> None:
        self._context = context
        self._inspect = inspect

    def create(self, spec: AlertSpec, options: QueryOptions) -> Answer:
        """The alert of `spec`, paid for and kept; nothing is compared yet."""
        context = self._context
        with context.ledger.recording_refusals(spec.statement):
            own = spec.options(options.price)
            compiled = compile_statement(context, spec.sql, own, NO_PARAMETERS, spec.request)
            self._inspect(compiled)
            return create_alert(context, spec, compiled)

    def check(self, name: str, written: str) -> Answer:
        """What the alert of that `name` says of the data as they are; noted as `written`."""
        context = self._context
        context.check_open()
        with context.ledger.recording_refusals(written):
            alert = saved_alert(context, name)
            check_policy(context, alert)
            stored = alert.stored
            compiled = compile_statement(
                context, stored.sql, stored.options, NO_PARAMETERS, stored.request
            )
            self._inspect(compiled)
            return check_alert(context, alert, compiled, written)

    def explain(self, spec: AlertSpec) -> PrivacyReport:
        """The proof and the price of the alert of `spec`, free."""
        context = self._context
        context.check_open()
        return explain(self._looked_at(spec), context.schema)

    def cost(self, spec: AlertSpec) -> Fraction:
        """What it costs in the ledger's currency, free to know."""
        loss = self._looked_at(spec).loss
        return Fraction(0) if loss is None else loss.amount

    def statement(self, name: str) -> Statement:
        """What a check of the alert of that `name` is bound as; free."""
        context, stored = self._context, saved_alert(self._context, name).stored
        return compile_for_look(
            context, stored.sql, stored.options, NO_PARAMETERS, stored.request
        ).statement

    def all(self) -> Sequence[tuple[SavedAlert, CheckHistory]]:
        """All that the analyst keeps, the oldest first, with what became of them."""
        self._context.check_open()
        return saved_alerts(self._context)

    def _looked_at(self, spec: AlertSpec) -> CompiledStatement:
        own = spec.options(PriceOptions())
        return compile_for_look(self._context, spec.sql, own, NO_PARAMETERS, spec.request)
