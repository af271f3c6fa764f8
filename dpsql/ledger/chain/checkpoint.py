"""Running sums of the chain: the accounts and the terms in force after each entry.

Every thousandth entry or so is a checkpoint: the sums over all entries before it. An opening then
replays only the entries after the last checkpoint. A checkpoint counts only if the anchor has its
line: it is an entry like any other, and who can't write the anchor can't forge one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct, field

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
"""How many entries may follow a checkpoint before the next, but for those of one transaction."""


class Checkpoint(Struct):
    """The sums over the entries up to number `last`.

    `terms_at` is the entry with the terms in force, `summed_at` the last checkpoint; 0 is none.
    """

    last: int = 0
    terms_at: int = 0
    summed_at: int = 0
    accounts: dict[str, Spent] = field(default_factory=lambda: {DATASET: Spent()})

    def add(self, entry: Entry) -> bool:
        """Adds `entry` to the sums; False if it can't follow the entries before it."""
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
        """The event of a checkpoint with these sums."""
        accounts = {
            name: (padded(account.spent), padded(account.delta))
            for name, account in self.accounts.items()
        }
        return Checkpointed(accounts, self.terms_at, self.summed_at)

    def _spend(self, name: str, event: Charged | Paid) -> None:
        self.accounts[name] = self.accounts.get(name, Spent()).plus(event.loss)


def write_checkpoint(chain: Chain) -> int:
    """Appends a checkpoint if the last is EVERY entries back; in the writer's own transaction.

    Returns the number of the last entry.
    """
    store = chain.store
    summed, last = store.summed_and_last()
    if last - summed < EVERY:
        return last
    total = Checkpoint(last, store.terms(), summed, store.accounts())
    seq = chain.append(total.as_event()).seq
    store.set_summed(seq)
    return seq


def check_checkpoint(chain: Chain) -> None:
    """Checks the chain from its last checkpoint on: links, anchor, sums; or LedgerFault."""
    # The anchor is read before the snapshot is taken: its lines are then of entries in the
    # snapshot, and lines that others append later may not be.
    tail = chain.anchor.tail()
    with chain.database.reading():
        total = _last_sum(chain, tail.seq)
        after = max(total.last - 1, 0)
        known = (tail.seq - after) * WIDTH + len(tail.torn)
        for _ in replay(chain, total, chain.anchor.content(after)[:known]):
            pass
        verify_checkpoint(chain, total)


def replay(chain: Chain, total: Checkpoint, anchored: bytes) -> Iterator[Entry]:
    """Yields the entries after those of `total`, each added to `total` and compared with its line.

    `anchored` are the anchor's lines from that of entry `total.last` on. Raises LedgerFault if
    chain and anchor aren't one history.
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
    """Raises LedgerFault if terms or accounts in the tables aren't those that `total` has."""
    if total.terms_at != chain.store.terms():
        raise fault(chain.path, "has other terms in force than its entries say", RESTORE)
    if total.accounts != chain.store.accounts():
        raise fault(chain.path, "has balances that its entries don't add up to", RESTORE)


def _last_sum(chain: Chain, anchored: int) -> Checkpoint:
    """The last checkpoint up to entry `anchored`, the anchor's last; empty if there is none."""
    seq, _ = chain.store.summed_and_last()
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
