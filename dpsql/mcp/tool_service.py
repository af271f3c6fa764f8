"""Answers tools: the one place that asks the session. Its methods run one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction

from dpsql.dbapi.connection import Connection
from dpsql.dbapi.statements.batch import check_queries
from dpsql.errors import BadParameter, Error
from dpsql.mcp import schema_listing
from dpsql.mcp.calls.answer_fields import (
    answer_fields,
    answer_of_batch,
    explanation_fields,
    paid_for_batch,
)
from dpsql.mcp.calls.corrected_call import Correctable, corrected, corrections_of
from dpsql.mcp.calls.refused_statements import check
from dpsql.mcp.json_rows import json_rows
from dpsql.mcp.spending_limit import SpendingLimit, budget_reply
from dpsql.mcp.tool_arguments import (
    DescribeTable,
    Explain,
    ExplainBatch,
    ListTables,
    Query,
    QueryBatch,
)
from dpsql.mcp.tool_results import (
    Answer,
    BatchAnswer,
    BatchExplanation,
    BatchPriceLine,
    BudgetReply,
    Explanation,
    Fix,
    TableFacts,
    Tables,
)
from dpsql.session.batch.batch_price import BatchPrice
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
        proof = self._connection_for(request).explain(request.sql)
        price = proof.report.price
        allowed = price is None or parse_epsilon(price.epsilon) <= self._limit.ceiling()
        return explanation_fields(proof, allowed=allowed)

    def explain_batch(self, request: ExplainBatch) -> BatchExplanation:
        """The price and the proof of a batch: free, and without touching private rows."""
        price = self._price_of_batch(request)
        allowed = self._allows(price)
        proofs = self._connection_for(request).explain_batch(request.statements)
        return BatchExplanation(
            BatchPriceLine(
                float(price.epsilon),
                float(price.delta),
                float(price.one_by_one),
                [float(one) for one in price.alone],
                self._session.schema.budget.accounting.value,
            ),
            allowed,
            [explanation_fields(proof, allowed=allowed) for proof in proofs],
        )

    def price_to_ask_about(self, request: Query | QueryBatch) -> Fraction | None:
        """The ε that a call costs at most, if a human decides whether to spend it."""
        if isinstance(request, Query):
            check(request.sql)
            statements, ceiling = [request.sql], self._limit.ceiling()
        else:
            statements, ceiling = request.statements, self._limit.batch_ceiling()
        # What is refused is told so where it is asked, and costs nothing.
        with suppress(Error):
            cost = self._price(request)
            if cost is not None and self._limit.asks(cost, ceiling):
                share = self._connection_for(request).share
                return cost if any(map(share, statements)) else None
        return None

    def query(self, request: Query, agreed: Fraction | None = None) -> Answer:
        """Answer a statement, and charge for it; a human may have `agreed` to its cost."""
        check(request.sql)
        ceiling = self._limit.agreed_ceiling(self._limit.ceiling(), agreed)
        connection = self._connection_for(request, ceiling)
        with self._noting_failures(ceiling):
            cursor = connection.execute(request.sql)
        if cursor.privacy is not None and cursor.privacy.loss is not None:
            self._limit.spend(cursor.privacy.loss.amount)
        return answer_fields(cursor, request, self.budget())

    def query_batch(self, request: QueryBatch, agreed: Fraction | None = None) -> BatchAnswer:
        """Answer a batch, and charge for it; a human may have `agreed` to its cost."""
        limit = self._limit
        ceiling = limit.agreed_ceiling(limit.batch_ceiling(), agreed)
        connection = self._connection_for(request, limit.ceiling(), ceiling)
        with self._noting_failures(ceiling):
            cursors, batch = connection.batch(request.statements)
        losses = [batch.loss, *(one.privacy.loss for one in cursors if one.privacy is not None)]
        limit.spend(sum((one.amount for one in losses if one is not None), Fraction(0)))
        return BatchAnswer(
            [answer_of_batch(cursor, request.max_rows) for cursor in cursors],
            paid_for_batch(batch),
            float(batch.epsilon_one_by_one),
            self.budget(),
            list(batch.notes),
        )

    def budget(self) -> BudgetReply:
        """What was spent and is left."""
        return budget_reply(self._connection.budget, self._limit, self._session.default_epsilon)

    def releases(self) -> list[dict[str, object]]:
        """The kept tables that the analyst may read, and what they were made of."""
        cursor = self._connection.execute("SHOW dpsql.releases")
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in json_rows(cursor.fetchall())]

    def fix(self, error: Error, request: Correctable) -> Fix | None:
        """The first correction that is no error itself, which is found out for free."""
        for correction in corrections_of(error, request):
            with suppress(Error):
                call = corrected(request, correction)
                one = self.explain(call) if isinstance(call, Explain) else self.explain_batch(call)
                if one.allowed:
                    return correction
        return None

    def close(self) -> None:
        """Let go of source and ledger."""
        self._connection.close()

    def _price(self, request: Query | QueryBatch) -> Fraction | None:
        """The ε of a call if its answer wasn't given before; None if it can't be charged."""
        if isinstance(request, QueryBatch):
            of_batch = self._price_of_batch(request)
            return of_batch.epsilon if self._allows(of_batch) else None
        price = self._connection_for(request).explain(request.sql).report.price
        return None if price is None else parse_epsilon(price.epsilon)

    def _price_of_batch(self, request: ExplainBatch | QueryBatch) -> BatchPrice:
        check_queries(request.statements)
        return self._session.price_batch(request.statements, self._options(request))

    def _allows(self, price: BatchPrice) -> bool:
        limit = self._limit
        return max(price.alone) <= limit.ceiling() and price.epsilon <= limit.batch_ceiling()

    def _connection_for(
        self,
        request: Correctable,
        ceiling: Fraction | None = None,
        batch_ceiling: Fraction | None = None,
    ) -> Connection:
        """A connection with the settings of this call, and no other's."""
        return Connection(self._session, self._options(request, ceiling, batch_ceiling))

    def _options(
        self,
        request: Correctable,
        ceiling: Fraction | None = None,
        batch_ceiling: Fraction | None = None,
    ) -> QueryOptions:
        if request.epsilon is not None and request.max_error is not None:
            raise BadParameter("epsilon follows from max_error", hint="call it with one of the two")
        max_cost = request.max_cost if isinstance(request, Query | QueryBatch) else None
        epsilon = None if request.epsilon is None else parse_epsilon(request.epsilon)
        if epsilon is not None:
            query_loss(self._session.schema, epsilon)
        price = PriceOptions(
            ceiling=ceiling,
            batch_ceiling=batch_ceiling,
            max_cost=None if max_cost is None else parse_epsilon(max_cost),
            max_error=None if request.max_error is None else parse_epsilon(request.max_error),
        )
        return QueryOptions(epsilon, price=price)

    @contextmanager
    def _noting_failures(self, ceiling: Fraction) -> Iterator[None]:
        """Note what a call that fails in this block was charged: no more than the ε `ceiling`."""
        before = self._spent()
        try:
            yield
        except BaseException:
            if self._charged():
                self._limit.spend_up_to(self._spent_since(before), ceiling)
            raise

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
