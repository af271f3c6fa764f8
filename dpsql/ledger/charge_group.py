"""Group commit: charges of one process that wait for one ledger are written in one transaction.

Who comes while others are being written waits; the first of those who wait then writes for all of
them, and they wait for the disk once. Each is admitted on its own, after those before it, so that
one that is refused costs the others nothing, and no cap is passed by several at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from weakref import WeakValueDictionary

from msgspec import Struct

from dpsql.errors import Error, LedgerFault
from dpsql.ledger.chain.checkpoint import write_checkpoint
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import Charge, Receipt
from dpsql.ledger.charge_transaction import enter
from dpsql.ledger.fault import fault, standing
from dpsql.ledger.storage.disk_reservation import Room
from dpsql.ledger.storage.exclusive_use import ExclusiveUse

NOTHING_CHARGED: Final = "nothing was charged"
STANDS: Final = "its charge stands"
_LOST: Final = ", and its answer is lost"
_MAY_BE_STORED: Final = "; ask again: its answer may be stored, and is free then"
_UNKNOWN: Final = "whether it was charged, the ledger's history tells"


class _Waiting(Struct):
    """A charge of the opening `owner`, with its room, and its end: a receipt or an error.

    `standing` says of an error whether the charge stands.
    """

    charge: Charge
    owner: str
    room: Room
    receipt: Receipt | None = None
    error: Error | None = None
    standing: str = NOTHING_CHARGED


class ChargeGroup:
    """The charges of one process for one ledger."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._turn = threading.Lock()
        self._waiting: list[_Waiting] = []

    def enter(
        self, chain: Chain, use: ExclusiveUse, charge: Charge, owner: str, room: Room
    ) -> Receipt:
        """Charges `charge` for the opening `owner`, with those that wait; see `Ledger.charge`.

        It may be written on the chain of another who waits, and others' on `chain`, which is then
        in `use`. The lines that `room` holds are free from then on.
        """
        own = _Waiting(charge, owner, room)
        with self._guard:
            self._waiting.append(own)
        with self._turn:
            if own.receipt is None and own.error is None:
                with self._guard:
                    group, self._waiting = self._waiting, []
                _write(chain, use, group)
        if own.receipt is None:
            # Each is told of it by an error of its own: one fault may be that of several.
            with standing(own.standing if own.error is not None else _UNKNOWN):
                raise own.error or _interrupted(chain)
        return own.receipt


def _write(chain: Chain, use: ExclusiveUse, group: Sequence[_Waiting]) -> None:
    """Commits all of `group`, of which every one has its outcome afterwards."""
    try:
        with use, chain.writing(waits=False):
            chain.confirm()
            _enter(chain, group)
            write_checkpoint(chain)
    except BaseException as error:  # noqa: BLE001 - raised again, or told by each
        _fail(chain, group, error, _standing(chain, error))
        return
    for one in group:
        one.room.give_lines()


def _fail(chain: Chain, group: Sequence[_Waiting], error: BaseException, standing: str) -> None:
    """`error` is what became of all of `group` that weren't refused; raised if it is no Error."""
    known = error if isinstance(error, Error) else _interrupted(chain)
    for one in group:
        if one.error is None:
            one.receipt, one.error, one.standing = None, known, standing
    if known is not error:
        raise error


@contextmanager
def telling_charge(chain: Chain) -> Iterator[None]:
    """A LedgerFault that ends the transaction within says whether its charge stands."""
    try:
        yield
    except LedgerFault as error:
        with standing(_standing(chain, error)):
            raise


@contextmanager
def telling_answer(chain: Chain) -> Iterator[None]:
    """A LedgerFault that ends the transaction within says whether the answer may be stored."""
    try:
        yield
    except LedgerFault:
        is_lost = not chain.database.commit_lost
        with standing(STANDS + (_LOST if is_lost else _MAY_BE_STORED)):
            raise


def _standing(chain: Chain, error: BaseException) -> str:
    """What is known of charges after `error` ended their transaction."""
    is_known = isinstance(error, Error) and not chain.database.commit_lost
    return NOTHING_CHARGED if is_known else _UNKNOWN


def _enter(chain: Chain, group: Sequence[_Waiting]) -> None:
    if len(group) == 1:  # an error undoes the transaction, which has nothing else
        (lone,) = group
        lone.receipt = enter(chain, lone.owner, lone.charge)
        return
    for one in group:
        try:
            with chain.database.savepoint():
                one.receipt = enter(chain, one.owner, one.charge)
        except Error as error:
            one.error = error


def _interrupted(chain: Chain) -> LedgerFault:
    what = "wasn't written: who wrote it for several was interrupted"
    return fault(chain.path, what, "ask again")


_groups: WeakValueDictionary[Hashable, ChargeGroup] = WeakValueDictionary()
_groups_guard = threading.Lock()


def group_of(chain: Chain) -> ChargeGroup:
    """The group of all openings of the file of `chain` in this process; its own for a server's.

    Who writes for others on a server would take them along when it loses its connection.
    """
    if chain.database.is_shared:
        return ChargeGroup()
    key = os.getpid(), str(chain.path), str(chain.anchor.path)
    with _groups_guard:
        group = _groups.get(key)
        if group is None:
            group = _groups[key] = ChargeGroup()
        return group
