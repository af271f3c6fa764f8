"""What one analyst's open portals hold is limited: rows that are free would fill the memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.pgwire.answering.held_answers import HeldAnswers
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.message_handler import MessageHandler
from dpsql.pgwire.monitoring.metrics import Counts
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.settings.session_settings import SessionSettings
from dpsql.pgwire.shared_dataset import Dataset

LARGE = "SELECT a.relname, b.relname FROM pg_class a, pg_class b LIMIT 9000"
REFUSED = b"C53300"


class Client:
    """One connection, without a socket."""

    def __init__(self, dataset: Dataset, analyst: str) -> None:
        service = QueryService(dataset, analyst)
        self._handler = MessageHandler(service, SessionSettings({}), Limits(), Counts())

    def send(self, *messages: f.Message) -> bytes:
        return b"".join(
            part for one in messages for part in self._handler.handle(one, lambda: None)
        )

    def open(self, portal: str, sql: str = LARGE) -> bytes:
        return self.send(f.Parse("", sql, ()), f.Bind(portal, "", (), (), ()), f.Execute(portal, 1))

    def close(self) -> None:
        self._handler.close()


@pytest.fixture
def clients(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, ...]]:
    monkeypatch.setattr(dataset, "held", HeldAnswers(100_000))
    found = tuple(Client(dataset, analyst) for analyst in ("alice", "alice", "bob"))
    yield found
    for client in found:
        client.close()


def test_portals_of_all_connections_of_an_analyst_hold_no_more(clients: tuple[Client, ...]) -> None:
    alice, again, bob = clients
    for client in clients:
        client.send(f.Query("BEGIN"))
    assert REFUSED not in alice.open("one")
    assert REFUSED in again.open("two")
    assert REFUSED not in bob.open("one")
    again.send(f.Query("ROLLBACK; BEGIN"))
    assert REFUSED not in again.open("small", "SELECT relname FROM pg_class")
    alice.send(f.Query("ROLLBACK"))
    assert REFUSED not in again.open("two")


def test_what_was_fetched_of_a_closed_cursor_is_held(clients: tuple[Client, ...]) -> None:
    alice, *_ = clients
    alice.send(f.Query("BEGIN"), f.Query(f"DECLARE own CURSOR FOR {LARGE}"))
    assert REFUSED not in alice.open("part", "FETCH ALL FROM own")
    alice.send(f.Query("CLOSE own"))
    assert REFUSED in alice.open("another")
    alice.send(f.Close("P", "part"))
    alice.send(f.Query("ROLLBACK"))
    assert REFUSED not in alice.open("another")
