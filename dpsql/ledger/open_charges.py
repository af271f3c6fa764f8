"""The charges that one opening of a ledger makes, from the room for an answer to the anchor."""

from __future__ import annotations

from concurrent.futures import Future

from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Charge, Receipt
from dpsql.ledger.charge_group import NOTHING_CHARGED, STANDS, Held, group_of
from dpsql.ledger.fault import standing
from dpsql.ledger.storage.disk_reservation import Room
from dpsql.ledger.storage.waiting import check_may_wait


class OpenCharges:
    """The charges of the opening `owner` that aren't settled, on its `chain` while it is `held`."""

    def __init__(self, chain: Chain, owner: str, held: Held) -> None:
        self.room = Room(chain, owner)
        self._chain = chain
        self._owner = owner
        self._held = held
        self._group = group_of(chain)
        self._anchoring: dict[str, Future[None]] = {}

    def enter(self, charge: Charge, size: int) -> Receipt:
        """The receipt of `charge`, which is durable; `size` bytes are reserved for its answer."""
        check_may_wait()
        with standing(NOTHING_CHARGED), self._held():
            self.room.hold(size)
        try:
            entered = self._group.enter(self._chain, self._held, charge, self._owner, self.room)
        except BaseException:
            self.room.give()
            raise
        if entered.anchored is not None:
            self._anchoring[charge.request_id] = entered.anchored
        return entered.receipt

    def await_anchor(self, receipt: Receipt) -> None:
        """Waits until the charge is on disk in the anchor, too."""
        anchored = self._anchoring.pop(receipt.request_id, None)
        if anchored is not None:
            with standing(STANDS):
                self._chain.anchor.await_sync(anchored)

    def settle(self, receipt: Receipt) -> None:
        """The charge is in both files, and the room for its answer is free."""
        self.await_anchor(receipt)
        self.room.give()
