"""SCRAM-SHA-256 (RFC 5802, RFC 7677): stored verifiers, and the server's half of an exchange.

A verifier is written as PostgreSQL does: SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server
key>. Nobody can log in with a verifier alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import stringprep
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from dpsql.pgwire.protocol.violation import ProtocolFault

MECHANISM: Final = "SCRAM-SHA-256"
ITERATIONS: Final = 4096
"""PostgreSQL's default; a client computes so many rounds of HMAC at each login."""

_SALT_BYTES: Final = 16
_WRITTEN: Final = re.compile(r"SCRAM-SHA-256\$(\d+):([^$:]+)\$([^$:]+):([^$:]+)")


@dataclass(frozen=True, slots=True)
class Verifier:
    """The salted keys of a password, by which the server checks a login (RFC 5802, section 3)."""

    iterations: int
    salt: bytes
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    def __str__(self) -> str:
        salt, stored, server = map(_base64, (self.salt, self.stored_key, self.server_key))
        return f"{MECHANISM}${self.iterations}:{salt}${stored}:{server}"


def verifier(password: str, salt: bytes | None = None, iterations: int = ITERATIONS) -> Verifier:
    """The verifier of `password`; `salt` is random if None."""
    chosen = secrets.token_bytes(_SALT_BYTES) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", saslprep(password).encode(), chosen, iterations)
    stored = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
    return Verifier(iterations, chosen, stored, _hmac(salted, b"Server Key"))


def read_verifier(written: str) -> Verifier | None:
    """The verifier whose text is `written`, None if `written` isn't one."""
    match = _WRITTEN.fullmatch(written)
    if match is None:
        return None
    try:
        salt, stored, server = (
            base64.b64decode(part, validate=True) for part in match.groups()[1:]
        )
    except binascii.Error:
        return None
    return Verifier(int(match[1]), salt, stored, server)


def pretended(user: str, secret: bytes) -> Verifier:
    """A verifier that no password fits, for a user who doesn't exist.

    Its salt is the same for the same name each time, as that of a user who exists is.
    """
    salt = _hmac(secret, user.encode())[:_SALT_BYTES]
    return Verifier(ITERATIONS, salt, secrets.token_bytes(32), secrets.token_bytes(32))


def saslprep(password: str) -> str:
    """The password after SASLprep (RFC 4013), or as it is where SASLprep forbids it.

    PostgreSQL does the same.
    """
    mapped = "".join(
        " " if stringprep.in_table_c12(c) else c for c in password if not stringprep.in_table_b1(c)
    )
    prepared = unicodedata.ucd_3_2_0.normalize("NFKC", mapped)
    forbidden = (
        stringprep.in_table_a1,
        stringprep.in_table_c12,
        stringprep.in_table_c21_c22,
        stringprep.in_table_c3,
        stringprep.in_table_c4,
        stringprep.in_table_c5,
        stringprep.in_table_c6,
        stringprep.in_table_c7,
        stringprep.in_table_c8,
        stringprep.in_table_c9,
    )
    if not prepared or any(test(c) for c in prepared for test in forbidden):
        return password
    return prepared


class Exchange:
    """The server's half of one login: `first` answers the client's first message, `last` its last.

    `nonce` is the server's part of the nonce, random if None.
    """

    def __init__(self, stored: Verifier, nonce: str | None = None) -> None:
        self._stored = stored
        self._nonce = secrets.token_urlsafe(18) if nonce is None else nonce
        self._header = ""
        self._client_first = ""

    def first(self, body: bytes) -> bytes:
        """The server-first-message: nonce, salt and iterations.

        `body` is that of a SASLInitialResponse; `ProtocolFault` if it isn't one of SCRAM-SHA-256.
        """
        name, _, rest = body.partition(b"\0")
        if name != MECHANISM.encode() or len(rest) < 4:
            raise ProtocolFault(f"only {MECHANISM} is offered")
        message = _ascii(rest[4:])
        match = re.fullmatch(
            r"(([ny]),(?:a=[^,]*)?,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)", message
        )
        if match is None:
            raise ProtocolFault("the login isn't written as SCRAM's")
        self._header = match[1]
        self._nonce = match[4] + self._nonce
        salt = _base64(self._stored.salt)
        answer = f"r={self._nonce},s={salt},i={self._stored.iterations}"
        self._client_first = f"{match[3]},{answer}"
        return answer.encode()

    def last(self, body: bytes) -> bytes | None:
        """The server-final-message with the server's signature.

        None if the client's proof is wrong. `body` is that of a SASLResponse.
        """
        final = _ascii(body)
        match = re.fullmatch(r"(c=([^,]*),r=([^,]*)(?:,.*)?),p=([^,]*)", final)
        if match is None:
            raise ProtocolFault("the login isn't written as SCRAM's")
        try:
            proof = base64.b64decode(match[4], validate=True)
        except binascii.Error:
            raise ProtocolFault("the login isn't written as SCRAM's") from None
        bound = _base64(self._header.encode())
        message = f"{self._client_first},{match[1]}".encode()
        signature = _hmac(self._stored.stored_key, message)
        key = bytes(a ^ b for a, b in zip(proof, signature, strict=False))
        fits = hmac.compare_digest(hashlib.sha256(key).digest(), self._stored.stored_key)
        same = hmac.compare_digest(
            f"{bound},{self._nonce}".encode(), f"{match[2]},{match[3]}".encode()
        )
        if not (fits and same and len(proof) == len(signature)):
            return None
        return b"v=" + _base64(_hmac(self._stored.server_key, message)).encode()


def _ascii(data: bytes) -> str:
    try:
        # A name in UTF-8 may come here: the name that counts is that of the start-up message.
        return data.decode()
    except UnicodeDecodeError:
        raise ProtocolFault("the login isn't text") from None


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
