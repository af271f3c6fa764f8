"""The audit: the whole chain is replayed, and all tables and both files are compared with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec import Struct, field

from dpsql.ledger.caps import Spent
from dpsql.ledger.chain.checkpoint import Checkpoint, replay, verify_checkpoint
from dpsql.ledger.chain.entry import (
    Amended,
    Burned,
    Charged,
    Checkpointed,
    Dropped,
    Entry,
    Opened,
    Paid,
    Released,
    Saved,
    Tightened,
)
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Receipt, ReceiptId
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.saved_release import metadata_of, rows_of


class Report(Struct, frozen=True):
    """An audit that passed: the chain's number of entries, its last hash, its sums.

    `accounts` has the dataset's under "" and each analyst's under their name; `answers` is the
    number of releases whose answer is stored, two of which may have the same bytes.
    """

    entries: int
    hash: str
    accounts: Mapping[str, Spent]
    answers: int


class Record(Struct):
    """What the entries say of requests and releases, for comparison with the tables.

    `requests` has the entries that charged and settled each, None for one that isn't settled;
    `charges` those that aren't settled. `stored` has the entry of each key's release, `seen` that
    by which each pair (key, analyst) was paid; `answers` has hashes; `named` the entry of each pair
    (analyst, name); `failed` pairs (key, entry).
    """

    requests: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    charges: dict[str, Charged] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    answers: set[str] = field(default_factory=set)
    named: dict[tuple[str, str], Entry] = field(default_factory=dict)
    failed: set[tuple[str, int]] = field(default_factory=set)

    def add(self, entry: Entry) -> bool:
        """Adds `entry` to the record; False if it can't follow the entries before it."""
        event = entry.event
        match event:
            case Opened() | Tightened() | Amended() | Checkpointed():
                pass
            case Charged():
                if event.request_id in self.requests:
                    return False
                self.requests[event.request_id] = (entry.seq, None)
                self.charges[event.request_id] = event
            case Released():
                self.answers.add(event.answer)
                for release in event.kept:
                    self.answers.add(release.answer)
                    self.stored.setdefault(release.key, entry.seq)
                    if event.request_id in self.charges:
                        reader = self.charges[event.request_id].analyst
                        self.seen.setdefault((release.key, reader), entry.seq)
                return self._settle(event.request_id, entry.seq)
            case Burned():
                if event.failed:
                    self.failed.add((event.failed, entry.seq))
                return self._settle(event.request_id, entry.seq)
            case Paid():
                for key in event.keys:
                    self.seen[key, event.analyst] = entry.seq
            case Saved():
                self.named[event.analyst, event.name] = entry
            case Dropped():
                return self.named.pop((event.analyst, event.name), None) is not None
            case _:
                assert_never(event)
        return True

    def _settle(self, request_id: str, seq: int) -> bool:
        charged, settled = self.requests.get(request_id, (None, None))
        if charged is None or settled is not None:
            return False
        self.requests[request_id] = (charged, seq)
        # The charge's own data aren't needed any more.
        del self.charges[request_id]
        return True


def audit(chain: Chain, receipts: Sequence[Receipt | ReceiptId]) -> Report:
    """Checks pages, chain, anchor, sums, requests, releases, readers, answers and `receipts`.

    Raises LedgerFault for the first that disagrees with the chain.
    """
    anchored = chain.anchor.content()
    with chain.database.reading():
        total, record = Checkpoint(), Record()
        for entry in replay(chain, total, anchored):
            if not record.add(entry):
                raise fault(chain.path, f"has an impossible entry {entry.seq}", RESTORE)
        verify_checkpoint(chain, total)
        _check_contents(chain, record)
        for receipt in receipts:
            if receipt.seq > total.last or chain.entry(receipt.seq).hash != receipt.hash:
                what = f"doesn't hold the receipt of entry {receipt.seq}: it was rolled back"
                raise fault(chain.path, what, RESTORE)
        head = chain.entry(total.last)
    return Report(head.seq, head.hash, total.accounts, len(record.stored))


def checked_answer(chain: Chain, own_hash: str) -> bytes:
    """The stored answer whose sha256 is `own_hash`, checked; LedgerFault if missing or damaged."""
    answer = chain.store.answer(own_hash)
    if answer is None or hashlib.sha256(answer).hexdigest() != own_hash:
        raise fault(chain.path, "has a stored answer that is damaged", RESTORE)
    return answer


def _check_contents(chain: Chain, record: Record) -> None:
    store = chain.store
    chain.database.check_format()
    chain.database.check_pages()
    requests = {each.id: (each.charged, each.settled) for each in store.requests()}
    for what, agrees in (
        ("requests", record.requests == requests),
        ("kept releases", record.stored == store.all_stored()),
        ("readers", record.seen == store.all_paid()),
        ("answers", record.answers == set(store.answers())),
        ("failures", record.failed == store.all_failed()),
        ("named tables", {k: e.seq for k, e in record.named.items()} == store.all_named()),
    ):
        if not agrees:
            raise fault(chain.path, f"has other {what} than its entries name", RESTORE)
    for own_hash in record.answers:
        checked_answer(chain, own_hash)
    for entry in record.named.values():
        metadata_of(chain, entry)
        rows_of(chain, entry)
