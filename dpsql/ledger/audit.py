"""Replays the chain and compares everything else with it.

`check_history` is what every opening does: links, anchor, totals. `audit` is what an auditor asks
for: pages, requests, kept releases, who saw them, and each answer's hash besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from dpsql.ledger.anchor import line
from dpsql.ledger.chain import Chain
from dpsql.ledger.entry import (
    Amended,
    Burned,
    Charged,
    Entry,
    Opened,
    Released,
    Tightened,
    Viewed,
)
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.request import Receipt
from dpsql.ledger.rule import Account
from dpsql.ledger.store import DATASET
from dpsql.ledger.terms import Terms


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in order: the chain's length and last hash, and what it adds up to.

    `accounts` has the dataset's under "" and each analyst's under their name.
    """

    entries: int
    hash: str
    accounts: Mapping[str, Account]
    answers: int


@dataclass(slots=True)
class History:
    """What the chain says, entry after entry: what the tables must say too."""

    terms: Terms | None = None
    last: int = 0
    terms_at: int = 0
    accounts: dict[str, Account] = field(default_factory=lambda: {DATASET: Account()})
    requests: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    charges: dict[str, Charged] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    answers: set[str] = field(default_factory=set)

    def add(self, entry: Entry) -> bool:
        """Takes `entry` in; False if it can't follow what came before."""
        self.last = entry.seq
        event = entry.event
        if isinstance(event, Opened) != (entry.seq == 1):
            return False
        match event:
            case Opened() | Tightened() | Amended():
                self.terms, self.terms_at = event.terms, entry.seq
            case Charged():
                if event.request_id in self.requests:
                    return False
                self.requests[event.request_id] = (entry.seq, None)
                self.charges[event.request_id] = event
                self._spend(DATASET, event)
                self._spend(event.analyst, event)
            case Released():
                self.answers.add(event.answer)
                for kept in event.kept:
                    self.answers.add(kept.answer)
                    self.kept.setdefault(kept.key, entry.seq)
                    if event.request_id in self.charges:
                        reader = self.charges[event.request_id].analyst
                        self.seen.setdefault((kept.key, reader), entry.seq)
                return self._settle(event.request_id, entry.seq)
            case Burned():
                return self._settle(event.request_id, entry.seq)
            case Viewed():
                self._spend(event.analyst, event)
                for key in event.keys:
                    self.seen[key, event.analyst] = entry.seq
            case _:
                assert_never(event)
        return True

    def _spend(self, name: str, event: Charged | Viewed) -> None:
        self.accounts[name] = self.accounts.get(name, Account()).plus(event.loss)

    def _settle(self, request_id: str, seq: int) -> bool:
        charged, settled = self.requests.get(request_id, (None, None))
        if charged is None or settled is not None:
            return False
        self.requests[request_id] = (charged, seq)
        # The charge's own data aren't needed any more.
        del self.charges[request_id]
        return True


def check_history(chain: Chain) -> History:
    """The chain is whole, its anchor is its prefix, and its totals are those of the accounts."""
    # Read before the snapshot is taken: then only later entries may be missing in it.
    anchored = chain.anchor.content()
    with chain.database.reading():
        return _replay(chain, anchored)


def audit(chain: Chain, receipts: Sequence[Receipt]) -> Report:
    """Besides: pages, requests, kept releases, readers, answers and receipts are the chain's."""
    anchored = chain.anchor.content()
    with chain.database.reading():
        history = _replay(chain, anchored)
        _check_contents(chain, history)
        for receipt in receipts:
            if receipt.seq > history.last or chain.entry(receipt.seq).hash != receipt.hash:
                what = f"doesn't hold the receipt of entry {receipt.seq}: it was rolled back"
                raise fault(chain.path, what, RESTORE)
        head = chain.entry(history.last)
    return Report(head.seq, head.hash, history.accounts, len(history.answers))


def checked_answer(chain: Chain, own_hash: str) -> bytes:
    """The stored answer of that hash, checked."""
    found = chain.store.answer(own_hash)
    if found is None or hashlib.sha256(found).hexdigest() != own_hash:
        raise fault(chain.path, "has a stored answer that is damaged", RESTORE)
    return found


def _replay(chain: Chain, anchored: bytes) -> History:
    history = History()
    position = 0
    for entry in chain.entries():
        if not history.add(entry):
            raise fault(chain.path, f"has an impossible entry {entry.seq}", RESTORE)
        expected = line(entry.seq, entry.hash)
        if not expected.startswith(anchored[position : position + len(expected)]):
            raise chain.not_its_anchor(entry.seq)
        position += len(expected)
    if position < len(anchored):
        chain.confirm()
        raise fault(chain.anchor.path, "has more lines than its ledger", RESTORE)
    if history.terms_at != chain.store.terms():
        raise fault(chain.path, "has other terms in force than its entries say", RESTORE)
    if history.accounts != chain.store.accounts():
        raise fault(chain.path, "has balances that its entries don't add up to", RESTORE)
    return history


def _check_contents(chain: Chain, history: History) -> None:
    store = chain.store
    chain.database.check_format()
    chain.database.check_pages()
    requests = {found.id: (found.charged, found.settled) for found in store.requests()}
    for what, agrees in (
        ("requests", history.requests == requests),
        ("kept releases", history.kept == store.all_kept()),
        ("readers", history.seen == store.all_seen()),
        ("answers", history.answers == set(store.answers())),
    ):
        if not agrees:
            raise fault(chain.path, f"has other {what} than its entries name", RESTORE)
    for own_hash in history.answers:
        checked_answer(chain, own_hash)
