"""What was answered before is answered on the event loop, and nothing else is begun there."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from pgwire.shop import make
from pgwire.test_wire_turn import machine, message
from waiting import HANGS_AFTER

from dpsql.ledger.chain.entry import Charged, Paid
from dpsql.ledger.storage.waiting import WouldWait, check_may_wait, may_wait, without_waiting
from dpsql.pgwire import immediate_answers
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.message_handler import MessageHandler
from dpsql.pgwire.monitoring.metrics import Counts
from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import Machine
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.settings.session_settings import SessionSettings
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.ledger_access import recorded_ledger

COUNT = "SELECT region_id, count(*) FROM orders WHERE qty > 1 GROUP BY 1"


class Client:
    """One client's statements, as the server hands them on."""

    def __init__(self, dataset: Dataset, analyst: str = "alice") -> None:
        self.service = QueryService(dataset, analyst)
        self.settings = SessionSettings({})
        self.handler = MessageHandler(self.service, self.settings, Limits(), Counts())

    def waits(self, sql: str) -> bytes:
        return b"".join(self.handler.handle(f.Query(sql), lambda: None))

    def at_once(self, sql: str) -> bytes | None:
        # A look that took long, as on a busy machine, would have others wait.
        self.handler._immediate._rests = 0
        return self.handler.at_once(f.Query(sql), Machine())

    def prepares(self, data: bytes) -> bytes:
        """What a thread answers to messages of the extended protocol."""
        received, answers = machine(data), b""
        while (message := received.take()) is not None:
            answers += b"".join(self.handler.handle(message, received.skip))
        return answers

    def prepared_at_once(self, data: bytes) -> tuple[bytes | None, list[f.Message]]:
        """What the event loop answers to them, and what is left of them then."""
        self.handler._immediate._rests = 0
        received, left = machine(data), []
        first = received.take()
        assert first is not None
        answer = self.handler.at_once(first, received)
        while (message := received.take()) is not None:
            left.append(message)
        return answer, left

    def close(self) -> None:
        self.handler.close()


@contextmanager
def opened(folder: Path) -> Iterator[Dataset]:
    path = make(folder, customers=20, orders=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSQL_STATE", str(folder / "state"))
        with closing(Dataset(path, Limits(workers=1, catalog_workers=1))) as found:
            yield found


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Dataset]:
    with opened(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """For tests that compare the state before and after, whatever others have left there."""
    with opened(tmp_path_factory.mktemp("shared")) as found:
        yield found


def entries(dataset: Dataset) -> int:
    return len(list(dataset.snapshot()._ledger.history()))


def state(dataset: Dataset, client: Client) -> tuple[object, ...]:
    settings = client.settings
    return entries(dataset), {name: settings[name] for name in settings}, settings.status


def test_what_was_answered_is_there_at_once_and_is_the_same(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        assert alice.at_once(COUNT) is None
        assert entries(shop) == 1  # the ledger's opening
        alice.waits(COUNT)
        before = entries(shop)
        again = alice.waits(COUNT)
        for _ in range(3):
            assert alice.at_once(COUNT) == again
        assert alice.at_once(f"{COUNT};") is not None
        assert entries(shop) == before


def test_another_connection_has_it_at_once_after_its_first_look(shop: Dataset) -> None:
    with closing(Client(shop)) as alice, closing(Client(shop)) as other:
        alice.waits(COUNT)
        other.waits(COUNT)
        assert other.at_once(COUNT) == alice.at_once(COUNT) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM orders WHERE qty > 2",
        "SELECT * FROM orders",
        "SELECT 1",
        "SELECT relname FROM pg_catalog.pg_class",
        "SELECT nothing FROM nowhere",
        f"{COUNT}; {COUNT}",
        "SET dpsql.epsilon = 0.1",
        "BEGIN",
        "CREATE RELEASE kept AS " + COUNT,
        f"EXPLAIN PRIVACY {COUNT}",
        "",
        "'",
    ],
)
def test_all_else_waits_for_a_thread_and_changes_nothing(shared: Dataset, sql: str) -> None:
    with closing(Client(shared)) as alice:
        alice.waits(COUNT)
        before = state(shared, alice)
        assert alice.at_once(sql) is None
        assert state(shared, alice) == before
        assert may_wait()


def test_other_messages_wait_for_a_thread(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        assert alice.handler.at_once(f.Sync(), Machine()) is None
        alice.waits(COUNT)
        alice.waits("BEGIN")
        alice.waits("SELECT nothing FROM nowhere")
        assert alice.settings.status == "E"
        assert alice.at_once(COUNT) is None


BY_QTY = b"SELECT region_id, count(*) FROM orders WHERE qty > $1 GROUP BY 1"
PARSE = message("P", b"by qty\0" + BY_QTY + struct.pack("!xHI", 1, 23))
BIND = b"".join([b"\0by qty\0", struct.pack("!HHI", 0, 1, 1), b"%d", struct.pack("!H", 0)])
FIRST, OTHER = (message("B", BIND % qty) for qty in (1, 2))
DESCRIBE, EXECUTE, SYNC = message("D", b"P\0"), message("E", b"\0\0\0\0\0"), message("S")


@pytest.mark.parametrize("behind", [DESCRIBE + EXECUTE + SYNC, EXECUTE + SYNC])
@pytest.mark.parametrize("begun", [b"", b"BEGIN"])
def test_a_prepared_statement_that_was_answered_is_answered_at_once(
    shared: Dataset, behind: bytes, begun: bytes
) -> None:
    with closing(Client(shared)) as alice:
        alice.prepares(PARSE + SYNC)
        alice.prepares(FIRST + behind)
        alice.waits(begun.decode())
        before = entries(shared)
        again, portals = alice.prepares(FIRST + behind), [*alice.handler._running.portals]
        assert alice.prepared_at_once(FIRST + behind) == (again, [])
        assert alice.prepared_at_once(FIRST + behind + FIRST + behind)[0] == again
        assert [*alice.handler._running.portals] == portals
        assert entries(shared) == before


@pytest.mark.parametrize(
    "data",
    [
        OTHER + DESCRIBE + EXECUTE + SYNC,
        FIRST + DESCRIBE + EXECUTE,
        FIRST + DESCRIBE + SYNC,
        FIRST + DESCRIBE + DESCRIBE + EXECUTE + SYNC,
        FIRST + message("E", b"\0\0\0\0\1") + SYNC,
        FIRST + message("D", b"Sby qty\0") + EXECUTE + SYNC,
        FIRST + EXECUTE + message("E", b"broken"),
        message("B", b"kept" + BIND % 1) + message("E", b"kept\0\0\0\0\0") + SYNC,
        message("B", b"\0nothing" + (BIND % 1)[7:]) + EXECUTE + SYNC,
    ],
)
def test_other_messages_of_prepared_statements_are_left_to_a_thread(
    shared: Dataset, data: bytes
) -> None:
    with closing(Client(shared)) as alice:
        alice.prepares(PARSE + SYNC)
        alice.prepares(FIRST + EXECUTE + SYNC)
        before = state(shared, alice), [*alice.handler._running.portals]
        received = machine(data)
        first = received.take()
        assert first is not None
        pending = received.pending
        assert alice.handler.at_once(first, received) is None
        assert received.pending == pending
        assert (state(shared, alice), [*alice.handler._running.portals]) == before


def test_a_prepared_statement_that_is_only_bound_again_is_asked_of_the_schema_as_it_is_now(
    shop: Dataset,
) -> None:
    """A pool prepares once, and binds for months: a lower cap holds for it, too."""
    with closing(Client(shop)) as alice:
        alice.prepares(PARSE + SYNC)
        alice.prepares(FIRST + EXECUTE + SYNC)
        path = shop._path
        path.write_text(path.read_text().replace("max_epsilon: 1}", "max_epsilon: 0.1}"))
        path.write_text(path.read_text().replace("epsilon: 0.5,", "epsilon: 0.1,"))
        before = entries(shop)
        assert b"\0VERROR\0" not in alice.prepares(OTHER + EXECUTE + SYNC)
        with recorded_ledger(shop.snapshot().schema) as ledger:
            (*_, last) = [e.event for e in ledger.history() if isinstance(e.event, Charged)]
        assert entries(shop) > before
        assert epsilon_of(shop.snapshot().schema, last.loss.amount) <= Fraction(1, 10)


def test_a_first_look_that_a_readers_cap_pays_for_waits(shop: Dataset) -> None:
    with closing(Client(shop)) as alice, closing(Client(shop, "carol")) as carol:
        alice.waits(COUNT)
        before = entries(shop)
        assert carol.at_once(COUNT) is None
        assert entries(shop) == before
        assert b"region_id" in carol.waits(COUNT)
        events = [e.event for e in shop.snapshot()._ledger.history()]
        assert sum(isinstance(event, Paid) for event in events) == 1
        assert sum(isinstance(event, Charged) for event in events) == 1
        assert carol.at_once(COUNT) is not None


def test_other_settings_are_another_question(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        alice.waits("SET dpsql.epsilon = 0.2")
        assert alice.at_once(COUNT) is None
        alice.waits("SET dpsql.epsilon = DEFAULT")
        assert alice.at_once(COUNT) is not None


def test_a_schema_that_is_being_read_or_was_edited_waits(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        with shop._guard:
            assert alice.at_once(COUNT) is None
        assert alice.at_once(COUNT) is not None
        path = shop._path
        path.write_text(path.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
        assert alice.at_once(COUNT) is None
        assert alice.at_once(COUNT) is None
        alice.waits(COUNT)
        assert alice.at_once(COUNT) is not None


def test_workers_and_statements_that_wait_keep_nobody_from_stored_answers(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        supervisor = shop.pool._take()
        try:
            answers: list[bytes | None] = []
            asking = threading.Thread(target=lambda: answers.append(alice.at_once(COUNT)))
            asking.start()
            asking.join(HANGS_AFTER)
            assert answers
            assert answers[0] is not None
        finally:
            shop.pool._give(supervisor)


def test_where_looks_take_long_threads_answer_for_a_while(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        assert alice.at_once(COUNT) is not None
        monkeypatch.setattr(immediate_answers, "_SLOW_SECONDS", -1.0)
        assert alice.at_once(COUNT) is not None
        assert alice.at_once(COUNT) is not None
        looks = [alice.handler.at_once(f.Query(COUNT), Machine()) is None for _ in range(101)]
        assert looks == [True] * 100 + [False]


def test_whether_a_thread_may_wait_is_its_own() -> None:
    with without_waiting():
        with pytest.raises(WouldWait):
            check_may_wait()
        others: list[bool] = []
        thread = threading.Thread(target=lambda: others.append(may_wait()))
        thread.start()
        thread.join()
        assert others == [True]
    check_may_wait()
