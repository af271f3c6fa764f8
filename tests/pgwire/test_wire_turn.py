"""Messages that arrived together are answered in one turn, as if they had come one by one."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest

from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import Machine
from dpsql.pgwire.protocol.turn import MAX_MESSAGES, Turn
from dpsql.pgwire.protocol.violation import ProtocolFault


def message(kind: str, body: bytes = b"") -> bytes:
    return kind.encode() + struct.pack("!I", len(body) + 4) + body


PARSE = message("P", b"\0SELECT 1\0\0\0")
BIND = message("B", b"\0\0\0\0\0\0\0\0")
DESCRIBE = message("D", b"P\0")
EXECUTE = message("E", b"\0\0\0\0\0")
SYNC = message("S")
QUERY = message("Q", b"SELECT 1\0")


def machine(data: bytes) -> Machine:
    found = Machine()
    body = struct.pack("!I", 196608) + b"user\0alice\0\0"
    found.feed(struct.pack("!I", len(body) + 4) + body)
    assert isinstance(found.take(), f.Startup)
    found.admit()
    found.feed(data)
    return found


def named(one: f.Message, skip: Callable[[], None]) -> Iterator[bytes]:  # noqa: ARG001
    yield f"{type(one).__name__} ".encode()


def turns(data: bytes, handle: Callable[..., Iterator[bytes]] = named) -> list[str]:
    """What is answered turn by turn."""
    from_client, found = machine(data), []
    left = from_client.take()
    while left is not None:
        turn = Turn(left, from_client, handle)
        answers = b""
        while not turn.is_over:
            answers += turn.part(1)
        found.append(answers.decode().strip())
        assert turn.taken == len(found[-1].split()) or handle is not named
        left = turn.left
        if left is None and turn.taken == MAX_MESSAGES:
            left = from_client.take()
    return found


@pytest.mark.parametrize(
    ("data", "answers"),
    [
        (PARSE + BIND + DESCRIBE + EXECUTE + SYNC, ["Parse Bind Describe Execute Sync"]),
        (BIND + EXECUTE + BIND + EXECUTE + SYNC, ["Bind Execute", "Bind Execute Sync"]),
        (PARSE + SYNC + PARSE + SYNC, ["Parse Sync", "Parse Sync"]),
        (QUERY + QUERY, ["Query", "Query"]),
        (EXECUTE + SYNC + EXECUTE[:-1], ["Execute Sync"]),
    ],
)
def test_a_turn_has_the_messages_of_one_statement(data: bytes, answers: list[str]) -> None:
    assert turns(data) == answers


def test_a_turn_has_so_many_messages_and_no_more() -> None:
    data = BIND * (MAX_MESSAGES + 1)
    assert [len(turn.split()) for turn in turns(data)] == [MAX_MESSAGES, 1]


def test_what_follows_an_error_is_skipped_up_to_sync() -> None:
    def fails(one: f.Message, skip: Callable[[], None]) -> Iterator[bytes]:
        yield f"{type(one).__name__} ".encode()
        if isinstance(one, f.Bind):
            skip()

    assert turns(PARSE + BIND + DESCRIBE + EXECUTE + SYNC + BIND, fails) == [
        "Parse Bind Sync Bind",
    ]


def test_what_was_answered_before_a_fault_is_sent_before_it() -> None:
    from_client = machine(EXECUTE + message("!"))
    first = from_client.take()
    assert first is not None
    turn = Turn(first, from_client, named)
    assert turn.part(1000) == b"Execute "
    assert turn.is_over
    assert isinstance(turn.fault, ProtocolFault)


def test_long_answers_come_in_parts() -> None:
    def long(one: f.Message, skip: Callable[[], None]) -> Iterator[bytes]:  # noqa: ARG001
        yield from [b"x" * 10] * 3

    from_client = machine(QUERY)
    first = from_client.take()
    assert first is not None
    turn = Turn(first, from_client, long)
    assert [turn.part(15), turn.is_over, turn.part(15), turn.is_over] == [
        b"x" * 20,
        False,
        b"x" * 10,
        True,
    ]
