"""What the chain adds up to: accounts and terms, entry after entry.

Every thousandth entry or so is a sum of all before it, so that an opening replays those behind the
last sum and not the whole history. A sum counts only if the anchor has it: it is an entry like any
other, and who can't write the anchor can't forge one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from dpsql.ledger.amount import padded
from dpsql.ledger.caps import Spent
from dpsql.ledger.chain.anchor import WIDTH, line
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
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.queries import DATASET

EVERY = 1000
"""How many entries an opening replays at most, but for those of one charge."""


@dataclass(slots=True)
class Checkpoint:
    """What the entries so far add up to."""

    last: int = 0
    terms_at: int = 0
    summed_at: int = 0
    accounts: dict[str, Spent] = field(default_factory=lambda: {DATASET: Spent()})

    def add(self, entry: Entry) -> bool:
        """Takes `entry` in; False if it can't follow what came before."""
        self.last = entry.seq
        event = entry.event
        if isinstance(event, Opened) != (entry.seq == 1):
            return False
        match event:
            case Opened() | Tightened() | Amended():
                self.terms_at = entry.seq
            case Charged():
                self._spend(DATASET, event)
                self._spend(event.analyst, event)
            case Paid():
                self._spend(event.analyst, event)
            case Checkpointed():
                if event != self.as_event():
                    return False
                self.summed_at = entry.seq
            case Released() | Burned() | Saved() | Dropped():
                pass
            case _:
                assert_never(event)
        return True

    def as_event(self) -> Checkpointed:
        """The entry that says all this."""
        accounts = {
            name: (padded(account.spent), padded(account.delta))
            for name, account in self.accounts.items()
        }
        return Checkpointed(accounts, self.terms_at, self.summed_at)

    def _spend(self, name: str, event: Charged | Paid) -> None:
        self.accounts[name] = self.accounts.get(name, Spent()).plus(event.loss)


def write_checkpoint(chain: Chain) -> None:
    """One more sum, if the last one is long ago. Done by whoever writes, in the same step."""
    store = chain.store
    summed = store.summed()
    if store.last() - summed < EVERY:
        return
    total = Checkpoint(store.last(), store.terms(), summed, store.accounts())
    store.set_summed(chain.append(total.as_event()).seq)


def check_checkpoint(chain: Chain) -> None:
    """From its last sum on the chain is whole, anchored, and adds up to what the tables say."""
    # Read before the snapshot is taken: what the anchor had then is in it, and what others have
    # appended since may not be.
    tail = chain.anchor.tail()
    with chain.database.reading():
        total = _last_sum(chain, tail.seq)
        after = max(total.last - 1, 0)
        known = (tail.seq - after) * WIDTH + len(tail.torn)
        for _ in replay(chain, total, chain.anchor.content(after)[:known]):
            pass
        verify_checkpoint(chain, total)


def replay(chain: Chain, total: Checkpoint, anchored: bytes) -> Iterator[Entry]:
    """The entries behind `total`, which takes them in; `anchored` are the lines from its last on.

    What isn't one history with its anchor is a fault.
    """
    position = 0
    if total.last:
        head = line(total.last, chain.entry(total.last).hash)
        if anchored[: len(head)] != head:
            raise chain.not_its_anchor(total.last)
        position = len(head)
    for entry in chain.entries(total.last):
        if not total.add(entry):
            raise fault(chain.path, f"has an impossible entry {entry.seq}", RESTORE)
        expected = line(entry.seq, entry.hash)
        if not expected.startswith(anchored[position : position + len(expected)]):
            raise chain.not_its_anchor(entry.seq)
        position += len(expected)
        yield entry
    if position < len(anchored):
        chain.confirm()
        raise fault(chain.anchor.path, "has more lines than its ledger", RESTORE)


def verify_checkpoint(chain: Chain, total: Checkpoint) -> None:
    """The tables say what the chain adds up to."""
    if total.terms_at != chain.store.terms():
        raise fault(chain.path, "has other terms in force than its entries say", RESTORE)
    if total.accounts != chain.store.accounts():
        raise fault(chain.path, "has balances that its entries don't add up to", RESTORE)


def _last_sum(chain: Chain, anchored: int) -> Checkpoint:
    """The last sum that the anchor has; nothing if there is none."""
    seq = chain.store.summed()
    while seq:
        event = chain.entry(seq).event
        if not isinstance(event, Checkpointed) or not event.before < seq:
            raise fault(chain.path, f"has no sum in entry {seq}", RESTORE)
        if seq <= anchored:
            accounts = {
                name: Spent(int(spent), int(delta))
                for name, (spent, delta) in event.accounts.items()
            }
            return Checkpoint(seq, event.terms, seq, accounts)
        seq = event.before
    return Checkpoint()
