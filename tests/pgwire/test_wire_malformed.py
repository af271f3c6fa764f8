"""A message that is wrong is an error of that message, and the connection goes on."""

from __future__ import annotations

import struct

import pytest
from pgwire import raw_wire as w
from pgwire.shop import Served

FINE = [("T", ("?column?", 23, 0)), ("D", b"1"), ("C", b"SELECT 1\0"), ("Z", b"I")]
LONG = "x" * (1 << 20)


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        (w.query(b"SELECT '\xff'"), "22021"),
        (w.message("Q", b"SELECT 1"), "08P01"),
        (w.query(f"SELECT '{LONG}'"), "54000"),
        (w.parse("", b"SELECT '\xff'") + w.bind("", "") + w.execute() + w.SYNC, "22021"),
        (w.parse("", f"SELECT '{LONG}'") + w.bind("", "") + w.execute() + w.SYNC, "54000"),
        (w.message("B", struct.pack("!HHHH", 0, 1, 2, 0)) + w.execute() + w.SYNC, "22023"),
        (w.describe("X") + w.execute() + w.SYNC, "08P01"),
    ],
    ids=["query", "no end", "long query", "parse", "long parse", "bind", "describe"],
)
def test_one_error_answers_it_and_the_next_query_is_answered(
    server: Served, sent: bytes, state: str
) -> None:
    with w.connected(server.port, server.dataset) as wire:
        wire.send(sent)
        assert wire.answers() == [("E", "ERROR", state), ("Z", b"I")]
        assert wire.is_silent()
        wire.send(w.query("SELECT 1"))
        assert wire.answers() == FINE


def test_it_fails_the_transaction(server: Served) -> None:
    with w.connected(server.port, server.dataset) as wire:
        wire.send(w.query("BEGIN") + w.query(b"SELECT '\xff'") + w.query("SELECT 1"))
        assert wire.answers(3)[-3:] == [("Z", b"E"), ("E", "ERROR", "25P02"), ("Z", b"E")]


@pytest.mark.parametrize("results", [(0, 1), (1, 1, 1)])
def test_there_are_as_many_formats_as_columns(server: Served, results: tuple[int, ...]) -> None:
    with w.connected(server.port, server.dataset) as wire:
        wire.send(w.parse("", "SELECT 1") + w.bind("", "", (), (), results) + w.execute() + w.SYNC)
        assert wire.answers() == [("1", b""), ("E", "ERROR", "08P01"), ("Z", b"I")]


@pytest.mark.parametrize(
    "sent",
    [
        w.parse("named", "SELECT 1"),
        w.bind("", "named"),
        w.describe("S", "named"),
        w.describe("P", "opened"),
        w.execute("opened"),
    ],
    ids=["parse", "bind", "describe", "describe a portal", "execute"],
)
def test_a_failed_transaction_takes_its_end_alone(server: Served, sent: bytes) -> None:
    with w.connected(server.port, server.dataset) as wire:
        opened = w.parse("named", "SELECT 1") + w.bind("opened", "named") + w.SYNC
        wire.send(w.query("BEGIN") + opened + w.query("SELECT 1 FROM nowhere"))
        assert wire.answers(3)[-1] == ("Z", b"E")
        wire.send(sent + w.SYNC)
        assert wire.answers() == [("E", "ERROR", "25P02"), ("Z", b"E")]
        wire.send(w.parse("", "") + w.parse("", "ROLLBACK") + w.bind("", "") + w.execute() + w.SYNC)
        assert wire.answers()[-1] == ("Z", b"I")


def test_a_fetch_is_read_in_parts(server: Served) -> None:
    with w.connected(server.port, server.dataset) as wire:
        declared = "DECLARE c CURSOR FOR SELECT region_id FROM regions ORDER BY 1"
        wire.send(w.query(f"BEGIN; {declared}") + w.parse("", "FETCH ALL FROM c") + w.bind("", ""))
        wire.send(w.execute("", 3) + w.execute("", 3) + w.SYNC)
        kinds = [told[0] for told in wire.answers(2)[3:]]
        assert kinds == ["1", "2", *"DDDs", "D", "C", "Z"]
