"""The protocol without sockets: whatever the bytes are, the only error is a protocol fault."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.pgwire.protocol import frontend_messages as f
from dpsql.pgwire.protocol.state_machine import TRANSITIONS, Machine, Phase
from dpsql.pgwire.protocol.violation import ProtocolFault


def message(kind: str, body: bytes = b"") -> bytes:
    return kind.encode() + struct.pack("!i", len(body) + 4) + body


def startup(user: str = "alice", minor: int = 0) -> bytes:
    body = struct.pack("!HH", 3, minor) + b"user\0" + user.encode() + b"\0\0"
    return struct.pack("!i", len(body) + 4) + body


def request(code: int) -> bytes:
    return struct.pack("!ii", 8, code)


SSL, GSS = request(80877103), request(80877104)
VALID = (
    message("Q", b"SELECT 1\0")
    + message("P", b"s\0SELECT $1\0" + struct.pack("!HI", 1, 23))
    + message("B", b"\0s\0" + struct.pack("!HHHiH", 1, 1, 1, 4, 7) + struct.pack("!HH", 1, 0))
    + message("D", b"Ss\0")
    + message("E", b"\0" + struct.pack("!i", 0))
    + message("C", b"Ps\0")
    + message("H")
    + message("S")
)


def admitted() -> Machine:
    machine = Machine()
    machine.feed(startup())
    assert isinstance(machine.take(), f.Startup)
    machine.admit()
    return machine


def drained(machine: Machine) -> list[f.Message]:
    found = []
    while (taken := machine.take()) is not None:
        found.append(taken)
    return found


def test_a_login_is_taken_step_by_step() -> None:
    machine = Machine()
    machine.feed(GSS + SSL + startup("bob"))
    assert isinstance(machine.take(), f.GssRequest)
    assert isinstance(machine.take(), f.SslRequest)
    taken = machine.take()
    assert isinstance(taken, f.Startup)
    assert taken.options == {"user": "bob"}
    machine.ask_secret()
    machine.feed(message("p", b"one") + message("p", b"two"))
    assert machine.take() == f.Secret(b"one")
    assert machine.take() == f.Secret(b"two")
    machine.admit()
    assert machine.phase is Phase.SERVING


def test_messages_arrive_one_byte_at_a_time() -> None:
    machine, found = admitted(), []
    for byte in VALID:
        machine.feed(bytes([byte]))
        found += drained(machine)
    assert [type(taken) for taken in found] == [
        f.Query,
        f.Parse,
        f.Bind,
        f.Describe,
        f.Execute,
        f.Close,
        f.Flush,
        f.Sync,
    ]


def test_what_follows_an_error_is_skipped_until_sync() -> None:
    machine = admitted()
    machine.skip()
    machine.feed(message("E", b"\0\0\0\0\0") + message("S") + message("Q", b"SELECT 1\0"))
    assert drained(machine) == [f.Sync(), f.Query("SELECT 1")]


def test_encryption_is_asked_for_once() -> None:
    machine = Machine()
    machine.feed(SSL + SSL)
    machine.take()
    with pytest.raises(ProtocolFault):
        machine.take()


@pytest.mark.parametrize("length", [-1, 0, 3, 0x7FFFFFFF])
def test_an_impossible_length_is_a_fault(length: int) -> None:
    machine = admitted()
    machine.feed(b"Q" + struct.pack("!i", length))
    with pytest.raises(ProtocolFault):
        machine.take()


def test_before_the_login_nothing_long_is_taken() -> None:
    machine = Machine()
    machine.feed(struct.pack("!i", 100_000))
    with pytest.raises(ProtocolFault):
        machine.take()


@pytest.mark.parametrize(
    ("kind", "body", "state", "begins"),
    [
        ("Q", b"SELECT '\xff'\0", "22021", True),
        ("Q", b"SELECT 1", "08P01", True),
        ("Q", b"SELECT 1\0x", "08P01", True),
        ("P", b"\0SELECT '\xff'\0\0\0", "22021", False),
        ("P", b"\0SELECT 1\0\0\1", "08P01", False),
        ("B", b"\0\0" + struct.pack("!HHHH", 1, 2, 0, 0), "22023", False),
        ("B", b"\0\0" + struct.pack("!HHiH", 0, 1, -2, 0), "08P01", False),
        ("B", b"\0\0" + struct.pack("!HHiH", 0, 1, 99, 0), "08P01", False),
        ("B", b"\0\0" + struct.pack("!HHHHH", 2, 0, 0, 0, 0), "08P01", False),
        ("D", b"Xa\0", "08P01", False),
    ],
)
def test_a_body_that_is_not_one_of_its_kind_ends_no_connection(
    kind: str, body: bytes, state: str, *, begins: bool
) -> None:
    machine = admitted()
    machine.feed(message(kind, body) + message("S", b"more") + message("Q", b"SELECT 1\0"))
    malformed, *following = drained(machine)
    assert isinstance(malformed, f.Malformed)
    assert (malformed.fault.sqlstate, malformed.ends_itself) == (state, begins)
    assert following == [f.Sync(), f.Query("SELECT 1")]


def test_what_is_skipped_may_be_malformed() -> None:
    machine = admitted()
    machine.skip()
    machine.feed(message("P", b"\xff\0") + message("S"))
    assert drained(machine) == [f.Sync()]


def test_before_the_login_a_malformed_message_is_a_fault() -> None:
    machine = Machine()
    machine.feed(struct.pack("!iHH", 12, 3, 0) + b"user")
    with pytest.raises(ProtocolFault):
        machine.take()


def test_a_message_that_is_too_long_is_skipped_and_never_held() -> None:
    machine = admitted()
    machine.feed(b"Q" + struct.pack("!i", 64 * 1024 * 1024))
    for _ in range(1023):
        machine.feed(b"x" * 64 * 1024)
        assert machine.take() is None
        assert machine.pending < 128 * 1024
    machine.feed(b"x" * (64 * 1024 - 4))  # the length counts itself
    assert machine.take() == f.Oversized(64 * 1024 * 1024 + 1)
    machine.feed(message("S"))
    assert drained(machine) == [f.Sync()]


def test_every_transition_starts_where_a_message_can_come() -> None:
    waiting = {Phase.STARTUP, Phase.FIRST_PROOF, Phase.LAST_PROOF, Phase.SERVING, Phase.SKIPPING}
    assert {phase for phase, _ in TRANSITIONS} == waiting
    assert not {kind for phase, kind in TRANSITIONS if phase is Phase.STARTUP} & {f.Query, f.Secret}


def attack(machine: Machine, data: bytes) -> None:
    machine.feed(data)
    with suppress(ProtocolFault):
        for taken in drained(machine):
            assert isinstance(taken, f.Message)
            if machine.phase is Phase.DECIDING:
                machine.admit()


@given(st.binary(max_size=200))
def test_random_bytes_are_a_message_or_a_fault(data: bytes) -> None:
    attack(Machine(), data)
    attack(admitted(), data)


@given(st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), max_size=8))
def test_mutated_messages_are_messages_or_a_fault(changes: list[tuple[int, int]]) -> None:
    data = bytearray(VALID)
    for place, byte in changes:
        data[place] = byte
    attack(admitted(), bytes(data))


@given(st.sampled_from("QPBDECHSXpdcfF"), st.binary(max_size=60))
def test_any_body_of_any_kind_is_a_message_or_a_fault(kind: str, body: bytes) -> None:
    attack(admitted(), message(kind, body))
