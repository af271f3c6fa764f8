"""The charges that one opening of a ledger makes, from the room for an answer to the anchor."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import Future

from msgspec import Struct

from dpsql.interrupt_deferral import InterruptDeferral
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Charge, Receipt
from dpsql.ledger.charge_group import NOTHING_CHARGED, STANDS, group_of
from dpsql.ledger.fault import standing
from dpsql.ledger.storage.disk_reservation import Room
from dpsql.ledger.storage.exclusive_use import ExclusiveUse
from dpsql.ledger.storage.sync_queue import begin
from dpsql.ledger.storage.waiting import check_may_wait


class _OpenCharge(Struct):
    """The room for the answer of a charge; `published` is done once it is on disk, in both files.

    It is None once somebody has waited for it.
    """

    room: Room
    published: Future[None] | None


class OpenCharges:
    """The charges of the opening `owner` that aren't settled, by their request ids.

    Several threads may have one each, on the `chain` that is theirs in turn, in `use`.
    """

    def __init__(self, chain: Chain, owner: str, use: ExclusiveUse) -> None:
        self._chain = chain
        self._owner = owner
        self._use = use
        self._group = group_of(chain)
        self._numbers = itertools.count()
        self._guard = threading.Lock()
        self._charges: dict[str, _OpenCharge] = {}
        self._last = 0
        """The last entry that is a charge of this opening, and is committed."""

    def enter(self, charge: Charge, size: int) -> Receipt:
        """The receipt of `charge`, which is committed; `size` bytes are reserved for its answer.

        Meanwhile it comes on disk, in both files: `settle` waits for that.
        """
        check_may_wait()
        with InterruptDeferral():  # who was stopped halfway would be charged by the next in line
            return self._enter(charge, size)

    def _enter(self, charge: Charge, size: int) -> Receipt:
        room = Room(self._chain, self._owner, next(self._numbers))
        # Without a turn: who waited for one here would come too late for the group that waits.
        with standing(NOTHING_CHARGED):
            self._use.check()
            room.hold(size)
        try:
            receipt = self._group.enter(self._chain, self._use, charge, self._owner, room)
        except BaseException:
            room.give()
            raise
        if not receipt.fresh:  # its answer is stored already, or another thread's to store
            room.give()
            return receipt
        with self._guard:
            self._last = max(self._last, receipt.seq)
            published = begin(self, self._publish)
            self._charges[charge.request_id] = _OpenCharge(room, published)
        return receipt

    def await_disk(self, receipt: Receipt) -> None:
        """Waits until the charge is on disk, in both files."""
        with self._guard:
            charge = self._charges.get(receipt.request_id)
        if charge is None or charge.published is None:
            return
        with InterruptDeferral():  # that it was stopped is told, too
            failed = charge.published.exception()
        charge.published = None
        if failed is not None:
            with standing(STANDS):
                raise failed

    def settle(self, receipt: Receipt) -> None:
        """The charge is on disk, in both files, and the room for its answer is free."""
        self.await_disk(receipt)
        with self._guard:
            charge = self._charges.pop(receipt.request_id, None)
        if charge is not None:
            charge.room.give()

    def give_room(self) -> None:
        """The room for all answers is free, since none is to come."""
        with self._guard:
            charges, self._charges = self._charges, {}
        for charge in charges.values():
            charge.room.give()

    def _publish(self) -> None:
        # What is committed after this look at `_last` may come too late for the sync.
        self._chain.publish(self._last, self._use)
