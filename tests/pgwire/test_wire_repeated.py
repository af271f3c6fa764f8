"""An answer's bytes are sent again as long as nothing that decides them has changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pgwire.test_wire_immediate import (
    BIND,
    COUNT,
    DESCRIBE,
    EXECUTE,
    FIRST,
    PARSE,
    SYNC,
    Client,
    entries,
)
from pgwire.test_wire_immediate import shop as shop  # noqa: PLC0414 - a fixture
from pgwire.test_wire_turn import message

from dpsql.ledger.storage.watch import LedgerWatch
from dpsql.pgwire.answering import repeated_answers
from dpsql.pgwire.answering.repeated_answers import RepeatedAnswer, RepeatedAnswers, SentAnswer
from dpsql.pgwire.executor import Executor
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.pgwire.sql.translate import Translated
from dpsql.session.compile.compiled import CompiledStatement

OTHER = "SELECT count(*) FROM orders WHERE qty > 3"
FLUSH, UNNAMED = message("H"), message("B", b"\0" + (BIND % 1)[7:])


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The seconds of the server's clock, which stands still: no minute is over in between."""
    stopped = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(
        "dpsql.pgwire.shared_dataset.time", SimpleNamespace(time=lambda: stopped.seconds)
    )
    return stopped


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many answers were made anew since it was last asked."""
    real, count = Executor.run, 0

    def run(*arguments: object, **keywords: object) -> object:
        nonlocal count
        count += 1
        return real(*arguments, **keywords)  # type: ignore[arg-type]

    def told() -> int:
        nonlocal count
        before, count = count, 0
        return before

    monkeypatch.setattr(Executor, "run", run)
    return told


def test_the_same_bytes_are_sent_again_to_all_connections_of_an_analyst(
    shop: Dataset, made: Callable[[], int]
) -> None:
    with closing(Client(shop)) as alice, closing(Client(shop)) as other:
        alice.waits(COUNT)
        again = alice.waits(COUNT)
        assert alice.at_once(COUNT) == again
        made()
        assert alice.at_once(COUNT) == again
        assert other.at_once(COUNT) == again
        assert made() == 0


def test_whoever_commits_to_the_ledger_has_answers_made_anew(
    shop: Dataset, made: Callable[[], int]
) -> None:
    with closing(Client(shop)) as alice, closing(Client(shop, "bob")) as bob:
        alice.waits(COUNT)
        before = alice.at_once(COUNT)
        bob.waits(OTHER)
        made()
        after = alice.at_once(COUNT)  # with what is left of the budget now
        assert made() == 1
        assert after != before
        assert after == alice.waits(COUNT)


def test_nobody_has_what_another_analyst_was_sent(shop: Dataset) -> None:
    with closing(Client(shop)) as alice, closing(Client(shop, "carol")) as carol:
        alice.waits(COUNT)
        assert b"carol" not in (alice.at_once(COUNT) or b"")
        before = entries(shop)
        assert carol.at_once(COUNT) is None  # it isn't paid for
        assert entries(shop) == before
        carol.waits(COUNT)
        hers = carol.at_once(COUNT)
        assert hers is not None
        assert hers != alice.at_once(COUNT)


def test_settings_are_those_of_the_time_of_each_question(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        usual = alice.at_once(COUNT)
        for setting in ("epsilon = 0.2", "rows = 1", "groups = 1"):
            alice.waits(f"SET dpsql.{setting}")
            assert alice.at_once(COUNT) is None
            alice.waits(f"SET dpsql.{setting.split()[0]} = DEFAULT")
            assert alice.at_once(COUNT) == usual
        assert b"ERROR" in alice.waits("SET dpsql.epsilon = -1")
        assert alice.at_once(COUNT) == usual


def test_what_was_sent_a_minute_ago_is_made_anew(
    shop: Dataset, made: Callable[[], int], clock: SimpleNamespace
) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        answered = alice.at_once(COUNT)
        made()
        clock.seconds = 59.0
        assert alice.at_once(COUNT) == answered
        assert made() == 0
        clock.seconds = 60.0
        assert alice.at_once(COUNT) == answered
        assert made() == 1


def test_a_setting_has_one_value_however_its_name_is_written(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits("SET dpsql.epsilon = 0.2")
        alice.waits('SET "DPSQL"."Epsilon" = 0.3')
        alice.waits(COUNT)
        answered = alice.at_once(COUNT)
        assert answered is not None
        alice.waits("SET dpsql.epsilon = 0.2")
        assert alice.at_once(COUNT) is None
        alice.waits("SET dpsql.epsilon = 0.3")
        assert alice.at_once(COUNT) == answered


def test_other_data_and_another_ledger_have_no_answer_yet(shop: Dataset, tmp_path: Path) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(COUNT)
        assert alice.at_once(COUNT) is not None
        os.utime(tmp_path / "shop.duckdb", (1, 1))
        assert alice.at_once(COUNT) is None
        alice.waits(COUNT)
        assert alice.at_once(COUNT) is not None
        ledger = cast("Path", shop.snapshot().schema.ledger)
        shutil.copy(ledger, tmp_path / "copy")
        ledger.rename(tmp_path / "original")
        (tmp_path / "copy").rename(ledger)
        assert alice.at_once(COUNT) is None
        (tmp_path / "original").rename(ledger)


def test_what_a_connection_was_sent_again_it_may_sum_others_from(shop: Dataset) -> None:
    finer = "SELECT status, region_id, count(*) FROM orders GROUP BY 1, 2"
    with closing(Client(shop)) as alice, closing(Client(shop)) as other:
        for client in (alice, other):
            client.waits("SET dpsql.reuse = on")
        alice.waits(finer)
        assert other.at_once(finer) is not None  # made of the answer
        with closing(Client(shop)) as third:
            third.waits("SET dpsql.reuse = on")
            assert third.at_once(finer) is not None  # the same bytes
            before = entries(shop)
            third.waits("SELECT status, count(*) FROM orders GROUP BY 1")
            assert entries(shop) == before


def test_columns_and_formats_are_those_that_were_asked_for(shop: Dataset) -> None:
    binary = message("B", (BIND % 1)[:-2] + struct.pack("!HH", 1, 1))
    with closing(Client(shop)) as alice:
        alice.prepares(PARSE + SYNC)
        seen = set()
        for data in (FIRST + EXECUTE, FIRST + DESCRIBE + EXECUTE, binary + EXECUTE):
            expected = alice.prepares(data + SYNC)
            expected = alice.prepares(data + SYNC)
            for _ in range(2):
                assert alice.prepared_at_once(data + SYNC) == (expected, [])
            seen.add(expected)
        assert len(seen) == 3


def test_a_portal_whose_rows_were_sent_again_has_no_more_of_them(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.prepares(PARSE + SYNC + FIRST + EXECUTE + SYNC)
        alice.waits("BEGIN")
        alice.prepared_at_once(FIRST + EXECUTE + SYNC)
        alice.prepares(FIRST + EXECUTE + SYNC)
        expected = alice.prepares(EXECUTE + SYNC)
        alice.prepared_at_once(FIRST + EXECUTE + SYNC)
        assert alice.prepares(EXECUTE + SYNC) == expected


@pytest.mark.parametrize(
    "data",
    [
        PARSE + SYNC,
        PARSE + FLUSH,
        PARSE + message("D", b"Sby qty\0") + SYNC,
        PARSE + message("D", b"Sby qty\0") + FLUSH,
        message("P", b"" + PARSE[11:]) + UNNAMED + DESCRIBE + EXECUTE + SYNC,
    ],
)
def test_a_query_that_was_read_before_is_prepared_at_once(shop: Dataset, data: bytes) -> None:
    with closing(Client(shop)) as first, closing(Client(shop)) as second:
        first.prepares(data + SYNC)
        expected = first.prepares(message("C", b"Sby qty\0") + data)[5:]
        assert second.prepared_at_once(data) == (expected, [])
        names = [*first.handler._running.statements]
        assert [*second.handler._running.statements] == names
        if names == ["by qty"]:
            before = [*second.handler._running.statements.values()]
            assert second.prepared_at_once(data)[0] is None  # the name is taken
            assert [*second.handler._running.statements.values()] == before
            ask = FIRST + EXECUTE + SYNC
            assert first.prepares(ask) != second.prepares(ask)  # one paid, and the other didn't
            assert first.prepares(ask) == second.prepared_at_once(ask)[0]


def test_answers_are_bounded_in_number_size_and_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_answers, "MAX_ANSWERS", 3)
    monkeypatch.setattr(repeated_answers, "MAX_STATEMENTS", 2)
    monkeypatch.setattr(repeated_answers, "MAX_BYTES", 30_000)
    cache, state = RepeatedAnswers(), (1, "data", 1)
    statements = [cast("CompiledStatement", object()) for _ in range(3)]

    def add(key: str, length: int, statement: int = 0, text: str = "SELECT 1") -> None:
        sent, query = SentAnswer(bytes(length), (), 0), Translated(text, text, None, None)
        cache.add(key, RepeatedAnswer(state, sent, statements[statement], query))

    def left() -> str:
        return "".join(key for key in "abcdefgh" if cache.get(key, state))

    for key in "abcd":
        add(key, 10)
    assert left() == "bcd"
    add("e", 27_000)
    assert left() == "e"
    add("f", 10, text="SELECT " + "1" * 200)
    assert left() == "f"
    add("g", 10, statement=1)
    assert left() == "fg"
    add("h", 10, statement=2)
    assert left() == "gh"
    add("a", 10, statement=1)
    assert left() == "agh"
    add("b", 65 * 1024)
    assert left() == "agh"
    assert cache.get("a", (2, "data", 1)) is None
    assert left() == "gh"  # what isn't so any more is forgotten
    assert cache.get("h", None) is None


def test_a_watch_tells_commits_of_others_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE t (x)")
        other.execute("PRAGMA application_id = 0x64707371")
        with closing(LedgerWatch(path)) as watch:
            first = watch.version()
            other.execute("SELECT * FROM t").fetchall()
            assert watch.version() == first
            other.execute("BEGIN")
            other.execute("INSERT INTO t VALUES (1)")
            assert watch.version() == first
            other.execute("COMMIT")
            second = watch.version()
            assert second != first
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            other.execute("INSERT INTO t VALUES (2)")
            assert watch.version() not in {first, second}
