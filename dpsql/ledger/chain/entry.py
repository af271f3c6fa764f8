"""The entries of the chain as closed data, their one encoding, and the hash that links them.

An entry's hash is the sha256 of the hash before it and of the entry's own JSON, so the last hash
stands for the whole history. The bytes that were hashed are the bytes that are stored: no later
version of an encoder can change an old hash.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

import msgspec

from dpsql.ledger.terms import LedgerTerms
from dpsql.privacy.accounting.loss import PrivacyLoss

START = "0" * 64


# Events are msgspec structs, since only those decode as a tagged union.
class Opened(msgspec.Struct, frozen=True, tag_field="event", tag="opened"):
    """The first entry. `ledger` is random, so no two ledgers share a chain."""

    ledger: str
    terms: LedgerTerms


class Tightened(msgspec.Struct, frozen=True, tag_field="event", tag="tightened"):
    """Somebody opened the ledger under smaller caps, with the schema `policy_hash`."""

    terms: LedgerTerms
    policy_hash: str


class Amended(msgspec.Struct, frozen=True, tag_field="event", tag="amended"):
    """The owner changed the terms, and said why."""

    terms: LedgerTerms
    reason: str


class Charged(msgspec.Struct, frozen=True, tag_field="event", tag="charged"):
    """The dataset and the analyst paid `loss`, before any private row was read."""

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
    """A release that may be answered again: its key, the sha256 of its answer, what it cost."""

    key: str
    answer: str
    loss: PrivacyLoss


class Released(msgspec.Struct, frozen=True, tag_field="event", tag="released"):
    """A charge came to an answer, whose sha256 is `answer`."""

    request_id: str
    answer: str
    kept: tuple[StoredRelease, ...]


class Burned(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="burned"):
    """A charge came to nothing, and stands. `abandoned`: the process that ran it is gone.

    `failed` is the key of the release that couldn't be computed, "" if none is known to be at
    fault. It was `stopped` if it ran out of time or memory, which it needn't do another time.
    """

    request_id: str
    abandoned: bool
    failed: str = ""
    stopped: bool = False


class Paid(msgspec.Struct, frozen=True, tag_field="event", tag="viewed"):
    """An analyst saw others' kept releases for the first time and paid `loss` of their own cap."""

    analyst: str
    keys: tuple[str, ...]
    loss: PrivacyLoss
    analyst_cap: Fraction | None
    policy_hash: str


class Saved(msgspec.Struct, frozen=True, tag_field="event", tag="named"):
    """An analyst keeps a table under a name; one of theirs with that name is replaced.

    `about` and `rows` are the sha256 of what is said of it and of what it holds, which was made of
    the kept releases `keys` and of nothing else that is private.
    """

    name: str
    analyst: str
    about: str
    rows: str
    keys: tuple[str, ...]


class Dropped(msgspec.Struct, frozen=True, tag_field="event", tag="dropped"):
    """An analyst's name means nothing from here on; nothing is given back for it."""

    name: str
    analyst: str


class Checkpointed(msgspec.Struct, frozen=True, tag_field="event", tag="summed"):
    """What all entries before this one add up to, so that an opening needn't read them again.

    `accounts` has spent and delta of each account, as padded units; the dataset's name is "".
    `terms` is the entry with the terms in force, `before` the sum before this one, 0 if none.
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


@dataclass(frozen=True, slots=True)
class Entry:
    """One link of the chain: what happened, when, and the hash of everything up to here."""

    seq: int
    at: datetime
    event: Event
    hash: str


def encode(seq: int, at: datetime, event: Event) -> str:
    """The JSON of an entry: UTF-8, keys sorted, no spaces, amounts as exact fractions in text."""
    return msgspec.json.encode(_Body(seq, at, event), enc_hook=_write, order="sorted").decode()


def decode(text: str, own_hash: str) -> Entry:
    """The entry written as `text`; raises ValueError if that is none."""
    body = _DECODER.decode(text)
    return Entry(body.seq, body.at, body.event, own_hash)


def link(before: str, text: str) -> str:
    """The hash of the entry `text` that follows the one whose hash is `before`."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def digest(data: bytes) -> str:
    """What names an answer."""
    return hashlib.sha256(data).hexdigest()


class _Body(msgspec.Struct, frozen=True):
    seq: int
    at: datetime
    event: Event


def _write(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise NotImplementedError


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
