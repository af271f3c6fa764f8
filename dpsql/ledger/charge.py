"""What a session hands to a ledger (charges, stored answers) and gets from it (receipts)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from fractions import Fraction

from msgspec import Struct

from dpsql.errors import BadParameter
from dpsql.ledger.amount import check_amount, check_delta
from dpsql.ledger.caps import Balances
from dpsql.ledger.terms import LONGEST_TEXT, check_name, check_text
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss

_KEY = re.compile(r"[0-9a-f]{64}")


class State(Enum):
    """A charge is settled once, as released or as burned, and never refunded."""

    CHARGED = "charged"
    RELEASED = "released"
    BURNED = "burned"


class Charge(Struct, frozen=True):
    """All releases of one statement, charged together before the first of them runs.

    `request_id` names this run of the statement. `request_hash` identifies all that the answer
    depends on: statement, analyst, parameters, policy and data version. `analyst_cap` bounds all ε,
    ρ or μ² that this analyst is charged; None is no bound. `detail` lists the mechanisms; its
    numbers are text, so that they stay exact. `paid_by` is the key of a stored release of the same
    analyst, in whose price this request is: its own `loss` is 0 then. `releases` are the keys of
    what is to be computed: nothing is charged if one of them is known to fail.
    """

    request_id: str
    request_hash: str
    analyst: str
    loss: PrivacyLoss
    analyst_cap: Fraction | None
    data_version: str
    policy_hash: str
    query: str
    detail: tuple[Mapping[str, str], ...] = ()
    paid_by: str | None = None
    releases: tuple[str, ...] = ()


class Receipt(Struct, frozen=True):
    """Proof of a charge: entry `seq` of the ledger, of the time `at`, has this hash.

    `fresh` is the permission to run the query, once. A receipt that isn't fresh is that of an
    earlier charge under the same id, which somebody else runs or ran; `state` is what became of it.
    `left` computes the balances of the dataset and of the analyst right behind a fresh charge.
    """

    request_id: str
    seq: int
    hash: str
    at: datetime
    state: State
    fresh: bool
    left: Callable[[], Balances] | None = None

    @property
    def receipt_id(self) -> ReceiptId:
        """The entry's number and hash, by which an audit checks that the ledger still holds it."""
        return ReceiptId(self.seq, self.hash)


class ReceiptId(Struct, frozen=True):
    """An entry's number and hash, written as 12:9f86…: all that a receipt proves."""

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


def parse_receipt_id(text: str) -> ReceiptId:
    """The receipt id that `text` writes as SEQ:HASH; BadParameter if it writes none."""
    seq, _, own_hash = text.strip().partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 13 and int(seq)):
        raise BadParameter("a receipt is an entry's number, a colon and its hash")
    check_key(own_hash)
    return ReceiptId(int(seq), own_hash)


class StoredAnswer(Struct, frozen=True):
    """One noisy release to be stored: `key` is its release digest, `loss` what it alone cost."""

    key: str
    answer: bytes
    loss: PrivacyLoss


class Failure(Struct, frozen=True):
    """The release `key` couldn't be computed; `stopped`: it ran out of time or memory."""

    key: str
    stopped: bool


class StoredAnswerInfo(Struct, frozen=True):
    """A stored release without its answer: its key, what it cost, when it was released."""

    key: str
    loss: PrivacyLoss
    at: datetime


def check_charge(charge: Charge, accounting: Accounting) -> None:
    """Raises BadParameter if a charge is malformed, or its loss is of another accounting."""
    for name, text in (
        ("request id", charge.request_id),
        ("request hash", charge.request_hash),
        ("analyst", charge.analyst),
        ("data version", charge.data_version),
        ("policy hash", charge.policy_hash),
    ):
        check_name(text, name)
    if charge.paid_by is None:
        check_loss(charge.loss, accounting)
    else:
        check_key(charge.paid_by)
        if charge.loss != PrivacyLoss(accounting, Fraction(0)):
            raise BadParameter("what was paid before costs nothing more")
    check_analyst_cap(charge.analyst_cap)
    texts = [
        charge.query,
        *(text for part in charge.detail for item in part.items() for text in item),
    ]
    for text in texts:
        check_text(text, "query or detail")
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise BadParameter("query and detail are longer than 1 MiB")


def check_loss(loss: PrivacyLoss, accounting: Accounting) -> None:
    """Raises BadParameter unless `loss` is exact, positive, and in the ledger's `accounting`."""
    if not isinstance(loss, PrivacyLoss) or loss.accounting is not accounting:
        raise BadParameter(f"the loss is no amount of a {accounting.value} ledger")
    check_amount(loss.amount, "the loss")
    check_delta(loss.delta, "the loss's delta")
    if accounting is Accounting.PURE and loss.delta:
        raise BadParameter("a pure loss has no delta")


def check_analyst_cap(cap: Fraction | None) -> None:
    """Raises BadParameter unless `cap` is None or an exact amount."""
    if cap is not None:
        check_amount(cap, "the analyst's cap")


def check_stored_answers(keep: Sequence[StoredAnswer], charged: PrivacyLoss) -> None:
    """Raises BadParameter if releases claim to have cost more than was charged for them together.

    Under approx accounting a batch costs less than the sum of its releases, but no less than each
    of them; in the other accountings their losses add up.
    """
    for stored in keep:
        check_key(stored.key)
        check_loss(stored.loss, charged.accounting)
    if len({stored.key for stored in keep}) < len(keep):
        raise BadParameter("two kept releases have one key")
    claim = max if charged.accounting is Accounting.APPROX else sum
    if keep and (
        claim(stored.loss.amount for stored in keep) > charged.amount
        or claim(stored.loss.delta for stored in keep) > charged.delta
    ):
        raise BadParameter("the kept releases cost more than what was charged")


def check_key(key: object) -> None:
    """Raises BadParameter unless `key` is a sha256 in lower-case hexadecimal."""
    if not isinstance(key, str) or _KEY.fullmatch(key) is None:
        raise BadParameter("that is not a sha256 in lower-case hexadecimal")


def check_keys(keys: Sequence[str]) -> None:
    """Raises BadParameter unless all of `keys` are such."""
    for key in keys:
        check_key(key)
