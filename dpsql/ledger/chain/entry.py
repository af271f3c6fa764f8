"""The entries of the chain as closed data, their one encoding, and the hash that links them.

An entry's hash is the sha256 of the hash of the entry before it and of the entry's own JSON, so the
last hash stands for the whole history. The JSON is stored as it was hashed: no later version of an
encoder can change an old hash.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from fractions import Fraction

import msgspec
from msgspec import Struct

from dpsql.errors import InternalError
from dpsql.ledger.terms import LedgerTerms
from dpsql.privacy.accounting.loss import PrivacyLoss

START = "0" * 64
"""What stands for the hash before the first entry."""


# Events are msgspec structs, since only those decode as a tagged union.
class Opened(msgspec.Struct, frozen=True, tag_field="event", tag="opened"):
    """The first entry. `ledger` is random, so no two ledgers share a chain.

    It is shown nowhere: whoever knows it knows the `sample_key`.
    """

    ledger: str
    terms: LedgerTerms

    @property
    def sample_key(self) -> str:
        """The secret that a sample of units is drawn by: as long as the ledger is, always one."""
        return hashlib.sha256(f"sample of units\n{self.ledger}".encode()).hexdigest()


class Tightened(msgspec.Struct, frozen=True, tag_field="event", tag="tightened"):
    """Somebody opened the ledger under smaller caps, by the schema whose policy has that hash."""

    terms: LedgerTerms
    policy_hash: str


class Amended(msgspec.Struct, frozen=True, tag_field="event", tag="amended"):
    """The owner changed the terms, for the stated reason."""

    terms: LedgerTerms
    reason: str


class Charged(msgspec.Struct, frozen=True, tag_field="event", tag="charged"):
    """The dataset and the analyst paid `loss`, before any private row was read; see `Charge`."""

    request_id: str
    request_hash: str
    analyst: str
    loss: PrivacyLoss
    analyst_cap: Fraction | None
    data_version: str
    policy_hash: str
    query: str
    detail: tuple[dict[str, str], ...]


class StoredRelease(msgspec.Struct, frozen=True):
    """A stored release: its key, the sha256 of its answer, what it cost."""

    key: str
    answer: str
    loss: PrivacyLoss


class Released(msgspec.Struct, frozen=True, tag_field="event", tag="released"):
    """A request was answered, by the answer with that sha256; `kept` are the releases it stored."""

    request_id: str
    answer: str
    kept: tuple[StoredRelease, ...]


class Burned(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="burned"):
    """A request has no answer, and its charge stands. `abandoned`: the process that ran it is gone.

    `failed` is the key of the release that couldn't be computed, "" if none is known to be at
    fault. `stopped`: that release ran out of time or memory, which needn't happen another time.
    """

    request_id: str
    abandoned: bool
    failed: str = ""
    stopped: bool = False


class Paid(msgspec.Struct, frozen=True, tag_field="event", tag="viewed"):
    """An analyst first saw stored releases of others, and paid `loss` of their own cap."""

    analyst: str
    keys: tuple[str, ...]
    loss: PrivacyLoss
    analyst_cap: Fraction | None
    policy_hash: str


class Saved(msgspec.Struct, frozen=True, tag_field="event", tag="named"):
    """An analyst saved a table under a name; their table of that name, if any, is replaced.

    `about` and `rows` are the sha256 of its metadata and of its rows, which were computed from the
    stored releases `keys` and from nothing else that is private.
    """

    name: str
    analyst: str
    about: str
    rows: str
    keys: tuple[str, ...]


class Dropped(msgspec.Struct, frozen=True, tag_field="event", tag="dropped"):
    """An analyst's table was deleted, and its name is free; nothing is refunded."""

    name: str
    analyst: str


class Checkpointed(msgspec.Struct, frozen=True, tag_field="event", tag="summed"):
    """A checkpoint: the sums over all entries before this one, which an opening needn't read again.

    `accounts` has spent and delta of each account, as padded units; the dataset's name is "".
    `terms` is the entry with the terms in force, `before` the previous checkpoint, 0 if none.
    """

    accounts: dict[str, tuple[str, str]]
    terms: int
    before: int


Event = (
    Opened
    | Tightened
    | Amended
    | Charged
    | Released
    | Burned
    | Paid
    | Saved
    | Dropped
    | Checkpointed
)


class Entry(Struct, frozen=True):
    """One entry of the chain: number, time, event, and the hash of the chain up to here."""

    seq: int
    at: datetime
    event: Event
    hash: str


def encode(seq: int, at: datetime, event: Event) -> str:
    """The JSON of an entry: UTF-8, keys sorted, no spaces, amounts as exact fractions in text."""
    return msgspec.json.encode(_Body(seq, at, event), enc_hook=_write, order="sorted").decode()


def decode(text: str, own_hash: str) -> Entry:
    """The entry whose JSON is `text`; raises ValueError if `text` is no entry."""
    body = _DECODER.decode(text)
    return Entry(body.seq, body.at, body.event, own_hash)


def link(before: str, text: str) -> str:
    """The hash of the entry whose JSON is `text`, after an entry with the hash `before`."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def digest(data: bytes) -> str:
    """The sha256, in hexadecimal, under which an answer is stored."""
    return hashlib.sha256(data).hexdigest()


class _Body(msgspec.Struct, frozen=True):
    seq: int
    at: datetime
    event: Event


def _write(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise InternalError(f"no entry of a ledger can hold a {type(value).__name__}")


def _read(kind: type, value: object) -> Fraction:
    # Thrice as fast as Fraction's own reader, which also takes floats, spaces and exponents.
    if kind is Fraction and isinstance(value, str):
        above, slash, below = value.partition("/")
        if not slash:
            return Fraction(int(above))
        if int(below) > 0:
            return Fraction(int(above), int(below))
    raise ValueError("not a fraction")


_DECODER = msgspec.json.Decoder(_Body, dec_hook=_read)
