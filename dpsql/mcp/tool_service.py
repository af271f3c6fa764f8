"""Answers tools: the one place that asks the session. Its methods run one at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import msgspec

from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor
from dpsql.dbapi.statements.alert import CreateAlert
from dpsql.dbapi.statements.assignment import Assignment
from dpsql.dbapi.statements.calibrate import Calibrate
from dpsql.dbapi.statements.create_release import CreateRelease
from dpsql.dbapi.statements.parse import DropRelease, read_statement
from dpsql.errors import BadParameter, Error, Refused
from dpsql.mcp import schema_listing
from dpsql.mcp.error_fields import corrections
from dpsql.mcp.json_rows import json_rows
from dpsql.mcp.spending_limit import SpendingLimit, budget_reply
from dpsql.mcp.tool_arguments import DescribeTable, Explain, ListTables, Query
from dpsql.mcp.tool_results import (
    Answer,
    BudgetReply,
    Explanation,
    Fix,
    NoiseLine,
    Paid,
    PriceLine,
    ShownColumn,
    TableFacts,
    Tables,
)
from dpsql.report.cost import paid
from dpsql.session.answer.answer import Privacy
from dpsql.session.compile.loss_conversion import parse_epsilon, query_loss
from dpsql.session.ledger_access import has_ledger
from dpsql.session.options import PriceOptions, QueryOptions
from dpsql.session.session import Session


class ToolService:
    """One analyst's dataset, as tools show it, within what `limit` allows.

    `charged` tells if the statement that runs has been paid for.
    """

    def __init__(self, session: Session, limit: SpendingLimit, charged: Callable[[], bool]) -> None:
        self._session = session
        self._connection = Connection(session)
        self._limit = limit
        self._charged = charged

    def tables(self, request: ListTables) -> Tables:
        """The tables that may be named."""
        return schema_listing.tables(self._connection.catalog, request)

    def table(self, request: DescribeTable) -> TableFacts:
        """One of them."""
        return schema_listing.table_facts(self._connection.catalog, request.table)

    def explain(self, request: Explain) -> Explanation:
        """The price and the proof of a statement: free, and without touching private rows."""
        explanation = self._connection_for(request, None).explain(request.sql)
        proof, price = explanation.report, explanation.report.price
        return Explanation(
            None
            if price is None
            else PriceLine(price.epsilon, price.delta, price.odds, price.accounting),
            price is None or parse_epsilon(price.epsilon) <= self._limit.ceiling(),
            [
                NoiseLine(
                    noise.name,
                    noise.mechanism,
                    noise.half_width,
                    noise.rank_error,
                    noise.score_error,
                    noise.threshold_error,
                )
                for release in proof.releases
                for noise in release.noise
            ],
            [note for release in proof.releases for note in release.limits],
            list(proof.advice),
            explanation.text(),
        )

    def price_to_ask_about(self, request: Query) -> Fraction | None:
        """The ε that a statement costs at most, if a human decides whether to spend it."""
        _check(request.sql)
        # What is refused is told so where it is asked, and costs nothing.
        with suppress(Error):
            connection = self._connection_for(request, None)
            price = connection.explain(request.sql).report.price
            if price is not None and self._limit.asks(parse_epsilon(price.epsilon)):
                cost = parse_epsilon(price.epsilon)
                return cost if connection.share(request.sql) else None
        return None

    def query(self, request: Query, agreed: Fraction | None = None) -> Answer:
        """Answer a statement, and charge for it; a human may have `agreed` to its cost."""
        _check(request.sql)
        ceiling, before = self._limit.agreed_ceiling(agreed), self._spent()
        try:
            cursor = self._connection_for(request, ceiling).execute(request.sql)
        except BaseException:
            if self._charged():
                self._limit.spend_up_to(self._spent_since(before), ceiling)
            raise
        if cursor.privacy is not None and cursor.privacy.loss is not None:
            self._limit.spend(cursor.privacy.loss.amount)
        return self._answer(cursor, request)

    def budget(self) -> BudgetReply:
        """What was spent and is left."""
        return budget_reply(self._connection.budget, self._limit, self._session.default_epsilon)

    def releases(self) -> list[dict[str, object]]:
        """The kept tables that the analyst may read, and what they were made of."""
        cursor = self._connection.execute("SHOW dpsql.releases")
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in json_rows(cursor.fetchall())]

    def fix(self, error: Error, request: Explain | Query) -> Fix | None:
        """The first correction that is no error itself, which is found out for free."""
        for correction in corrections(error, request.sql):
            if correction.sql == request.sql:
                continue
            with suppress(Error):
                if self.explain(_corrected(request, correction)).allowed:
                    return correction
        return None

    def close(self) -> None:
        """Let go of source and ledger."""
        self._connection.close()

    def _connection_for(self, request: Explain | Query, ceiling: Fraction | None) -> Connection:
        """A connection with the settings of this call, and no other's."""
        if request.epsilon is not None and request.max_error is not None:
            raise BadParameter("epsilon follows from max_error", hint="call it with one of the two")
        max_cost = request.max_cost if isinstance(request, Query) else None
        epsilon = None if request.epsilon is None else parse_epsilon(request.epsilon)
        if epsilon is not None:
            query_loss(self._session.schema, epsilon)
        price = PriceOptions(
            ceiling=ceiling,
            max_cost=None if max_cost is None else parse_epsilon(max_cost),
            max_error=None if request.max_error is None else parse_epsilon(request.max_error),
        )
        return Connection(self._session, QueryOptions(epsilon, price=price))

    def _answer(self, cursor: Cursor, request: Query) -> Answer:
        with_error_columns = cursor.with_errors()
        rows = with_error_columns.fetchall()
        privacy = cursor.privacy
        shown = rows[request.offset : request.offset + request.max_rows]
        return Answer(
            [ShownColumn(column[0], column[1]) for column in with_error_columns.description or ()],
            json_rows(shown),
            len(rows),
            request.offset,
            None if privacy is None else _paid(privacy),
            self.budget(),
            [] if privacy is None else _notes(privacy),
        )

    def _spent(self) -> Fraction:
        """What the dataset has spent, in the ledger's currency; no ledger is made for this."""
        session = self._session
        if session.has_ledger or has_ledger(session.schema):
            return session.balance().spent.amount
        return Fraction(0)

    def _spent_since(self, before: Fraction) -> Fraction | None:
        """None where the balance can't be read now."""
        with suppress(Error):
            return self._spent() - before
        return None


def _check(sql: str) -> None:
    """Refuse what would change more than the budget, or hold for others' statements."""
    match read_statement(sql):
        case Assignment(setting=setting, value=value, at=at):
            name, option = setting.value, f"{setting.value} = {value or 'DEFAULT'}"
            raise BadParameter(
                f"dpsql.{name} holds for one statement at a time here",
                at=at,
                hint=f"end the statement with OPTIONS ({option})",
            )
        case DropRelease(name=name):
            raise Refused(
                f"{name} isn't dropped by this server",
                hint="drop it at the prompt: dpsql console",
            )
        case Calibrate():
            raise Refused(
                "ladders serve all analysts, and aren't drawn by this server",
                hint="their owner draws them: dpsql calibrate",
            )
        case CreateAlert(spec=spec) if spec.replace:
            raise Refused(
                f"{spec.name} isn't replaced by this server",
                hint="write CREATE ALERT with a name that is free",
            )
        case CreateRelease(request=wanted) if wanted.replace:
            raise Refused(
                f"{wanted.name} isn't replaced by this server",
                hint=f"write CREATE {wanted.kind.upper()} with a name that is free",
            )
        case _:
            pass


def _corrected(request: Explain | Query, fix: Fix) -> Explain:
    """`request` with what `fix` has instead; ε and an error don't go together."""
    changed: dict[str, object] = msgspec.to_builtins(fix)
    changed.pop("max_cost", None)
    epsilon = None if "max_error" in changed else request.epsilon
    max_error = None if "epsilon" in changed else request.max_error
    before = {"sql": request.sql, "epsilon": epsilon, "max_error": max_error}
    return msgspec.convert(before | changed, Explain)


def _paid(privacy: Privacy) -> Paid:
    return Paid(
        float(privacy.epsilon),
        0.0 if privacy.loss is None else float(privacy.loss.delta),
        privacy.stored,
        privacy.receipt,
        paid(privacy),
    )


def _notes(privacy: Privacy) -> list[str]:
    threshold = min(privacy.thresholds, default=None)
    hidden = (
        []
        if threshold is None
        else [f"groups of fewer than {threshold} units (or rows), by noise, are left out"]
    )
    return [*privacy.notes, *hidden]
