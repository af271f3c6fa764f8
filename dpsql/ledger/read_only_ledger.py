"""A ledger that is read and never written, also on a medium that can't be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Self, assert_never

from dpsql.errors import LedgerFault
from dpsql.ledger.chain.anchor import Anchor
from dpsql.ledger.chain.checkpoint import check_checkpoint
from dpsql.ledger.chain.hash_chain import Chain, Clock, utc_now
from dpsql.ledger.charge import Charge, Receipt
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.backend import Backend, Location, Server
from dpsql.ledger.storage.file_safety import check_anchor, check_locations
from dpsql.ledger.storage.postgres import connect_server
from dpsql.ledger.storage.sqlite import Database


class _NoSign:
    """The process lock of a read-only ledger: it takes none, since it has no requests to mark."""

    name: Final = ""

    def close(self) -> None:
        """There is nothing to release."""


class ReadLedger(Ledger):
    """A checked ledger that is read only; methods that would write raise LedgerFault.

    Entries that a crash kept out of the anchor aren't added to it: it is a prefix of the chain.
    """

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain, _NoSign())

    @classmethod
    def at(cls, path: Location, anchor: Path, *, clock: Clock = utc_now) -> Self:
        """The checked ledger at `path`, under its own terms."""
        return cls(_checked_chain(path, anchor, clock))

    @property
    def charges(self) -> int:
        """How many charges there were, of all analysts."""
        with self._reading():
            return self._store.charges()

    def charge(self, charge: Charge, room: int = 0) -> Receipt:
        """Raises LedgerFault: nothing is charged."""
        del charge, room
        raise _read_only(self._chain)

    def close(self) -> None:
        """The files are closed."""
        with self._use.ending():
            self._chain.database.close()

    @contextmanager
    def _writing(self, *, waits: bool = True) -> Iterator[None]:  # noqa: ARG002
        raise _read_only(self._chain)
        yield

    def await_releases(self) -> None:
        """Nothing was appended."""


def _read_only(chain: Chain) -> LedgerFault:
    return fault(chain.path, "can't be written", "make it and its folder writable")


def _checked_chain(location: Location, anchor_path: Path, clock: Clock) -> Chain:
    anchor = Anchor(anchor_path.absolute())
    with ExitStack() as stack:
        database = _connect(location, anchor)
        stack.callback(database.close)
        chain = Chain(database, anchor, clock)
        with database.reading():
            database.check_format()
            if anchor.tail().seq == 0 and chain.store.last() > 1:
                raise fault(anchor.path, f"is missing or empty beside {chain.path}", RESTORE)
        check_checkpoint(chain)
        stack.pop_all()
    return chain


def _connect(location: Location, anchor: Anchor) -> Backend:
    match location:
        case Path():
            path = location.absolute()
            check_locations(path, anchor.path)
            if not path.exists():
                raise fault(path, "doesn't exist", "check the path")
            return Database(path, reads=True)
        case Server():
            check_anchor(anchor.path)
            return connect_server(location)
        case missing:
            assert_never(missing)
