"""Random conversations have PostgreSQL's answers, message by message, beside a server of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from pgwire import raw_wire as w
from pgwire.conversations import conversation
from pgwire.matrix.two_servers import Servers, both

ORDINARY, LENGTH = 42, 12
LONG = int(os.environ.get("DPSQL_CONVERSATIONS", "3000"))
FAILED = ("Z", b"E")
"""There, only simple queries are sent: PostgreSQL 15.18 falls, with all its connections, over some
messages of the extended protocol in a failed transaction."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with both(tmp_path_factory.mktemp("conversations")) as running:
        yield running


@pytest.mark.parametrize("chunk", range(3))
def test_a_conversation_is_postgresqls(servers: Servers, chunk: int) -> None:
    for number in range(chunk * ORDINARY // 3, (chunk + 1) * ORDINARY // 3):
        _compare(servers, number)


@pytest.mark.slow
def test_a_conversation_is_postgresqls_at_length(servers: Servers) -> None:
    for number in range(1000, 1000 + LONG):
        _compare(servers, number)


def _compare(servers: Servers, number: int) -> None:
    sent = conversation(Random(f"conversation {number}"), LENGTH)
    with (
        w.connected(servers.ours, servers.database) as ours,
        w.connected(servers.theirs, servers.database) as theirs,
    ):
        told: list[list[w.Told]] = [[], []]
        for index in range(len(sent)):
            if told[0][-1:] == [FAILED] and sent[index][:1] != b"Q":
                sent[index] = w.query("ROLLBACK")
            told = []
            for wire in (ours, theirs):
                wire.send(sent[index])
                told.append(wire.answers())
            assert told[0] == told[1], (number, sent[: index + 1])
