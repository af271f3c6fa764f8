"""SCRAM-SHA-256 by its published vector, by an independent client, and against wrong proofs."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.pgwire.protocol.scram import Exchange, pretended, read_verifier, saslprep, verifier
from dpsql.pgwire.protocol.violation import ProtocolFault

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
FIRST = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
LAST = (
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)


def initial(said: str) -> bytes:
    return b"SCRAM-SHA-256\0" + len(said).to_bytes(4) + said.encode()


def test_the_exchange_of_rfc_7677_is_accepted() -> None:
    exchange = Exchange(verifier("pencil", SALT), nonce="%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    answer = exchange.first(initial(FIRST))
    assert answer.decode() == (
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    assert exchange.last(LAST.encode()) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_a_wrong_password_is_not() -> None:
    exchange = Exchange(verifier("pencils", SALT), nonce="%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    exchange.first(initial(FIRST))
    assert exchange.last(LAST.encode()) is None


def test_a_proof_of_another_exchange_is_not() -> None:
    exchange = Exchange(verifier("pencil", SALT))
    exchange.first(initial(FIRST))
    assert exchange.last(LAST.encode()) is None


@pytest.mark.parametrize("proof", ["", base64.b64encode(bytes(31)).decode(), "AAAA"])
def test_a_proof_of_another_length_is_not(proof: str) -> None:
    exchange = Exchange(verifier("pencil", SALT), nonce="%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    exchange.first(initial(FIRST))
    head, _, _ = LAST.partition(",p=")
    assert exchange.last(f"{head},p={proof}".encode()) is None


def test_a_verifier_is_read_as_it_was_written() -> None:
    found = verifier("a password")
    assert read_verifier(str(found)) == found
    assert "stored_key" not in repr(found)
    assert read_verifier("md5abcdef") is None


def test_nobody_has_the_same_salt_each_time() -> None:
    first, second = pretended("nobody", b"secret"), pretended("nobody", b"secret")
    assert first.salt == second.salt
    assert first.salt != pretended("somebody", b"secret").salt
    assert first.stored_key != second.stored_key


def test_passwords_are_prepared_as_rfc_4013_says() -> None:
    assert saslprep("I\u00adX") == "IX"
    assert saslprep("\u2168") == "IX"
    assert saslprep("a\u00a0b") == "a b"
    assert saslprep("\u0007") == "\u0007"  # forbidden: taken as it is


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_any_bytes_are_a_fault_or_no_proof(first: bytes, last: bytes) -> None:
    exchange = Exchange(verifier("pencil", SALT, iterations=1))
    for body in (first, initial(FIRST)):
        try:
            exchange.first(body)
        except ProtocolFault:
            continue
    with suppress(ProtocolFault):
        assert exchange.last(last) is None
