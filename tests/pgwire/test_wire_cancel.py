"""Cancels that come between two statements, or while one is charged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from pgwire.asking import rows
from pgwire.test_wire_sharing import events
from pgwire.test_wire_sharing import shop as shop  # noqa: PLC0414 - a fixture

from dpsql.ledger.chain.entry import Burned, Charged
from dpsql.ledger.charge import Receipt
from dpsql.ledger.ledger import Ledger
from dpsql.pgwire.error_response import Cancelled
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset

CHART = "SELECT region_id, count(*) AS n FROM orders GROUP BY 1"
RELEASE = f"CREATE RELEASE by_region AS {CHART}"


def cancelled(
    monkeypatch: pytest.MonkeyPatch, service: QueryService, work: Callable[[], object]
) -> None:
    """`work` is charged, and stopped by a cancel that comes before a worker begins."""
    charge = Ledger.charge

    def cancelling(*given: Any) -> Receipt:
        receipt = charge(*given)
        service.cancel()
        return receipt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "charge", cancelling)
        with pytest.raises(Cancelled, match="its charge stands"):
            work()


def test_a_cancel_that_comes_while_a_statement_is_charged_stops_it(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its charge stands; no worker has begun with it that could be told."""
    with closing(QueryService(shop, "alice")) as alice:
        cancelled(monkeypatch, alice, lambda: rows(alice, CHART))
        assert len(events(shop, Charged)) == len(events(shop, Burned)) == 1
        assert rows(alice, CHART)  # as any that was cancelled, it is charged again
        assert len(events(shop, Charged)) == 2


def test_a_release_that_is_cancelled_says_whether_it_was_charged(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(QueryService(shop, "alice")) as alice:
        cancelled(monkeypatch, alice, lambda: alice.execute(RELEASE))
        assert len(events(shop, Charged)) == 1


def test_a_cancel_between_statements_stops_none_of_them(shop: Dataset) -> None:
    with closing(QueryService(shop, "alice")) as alice:
        alice.cancel()
        assert rows(alice, CHART)
        alice.cancel()
        alice.execute(RELEASE)
        assert rows(alice, "SELECT n FROM by_region")
