"""Opening a ledger: it is created, or checked from its last checkpoint; dead requests are burned.

A missing ledger is created only where its anchor is missing too: else somebody removed the ledger,
and a new one would be a new budget. A request is dead if the process that ran it is gone.
"""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import assert_never

from dpsql.errors import LedgerFull
from dpsql.ledger.caps import Cap, Spent
from dpsql.ledger.chain.anchor import Anchor
from dpsql.ledger.chain.checkpoint import check_checkpoint, write_checkpoint
from dpsql.ledger.chain.entry import Amended, Opened, Tightened
from dpsql.ledger.chain.hash_chain import Chain, Clock
from dpsql.ledger.charge_log import burn_orphans
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.backend import Backend, Location, ProcessLock, Server
from dpsql.ledger.storage.disk_reservation import remove_stale as tidy_room
from dpsql.ledger.storage.file_safety import check_anchor, check_locations, create_private
from dpsql.ledger.storage.postgres import connect_server
from dpsql.ledger.storage.queries import DATASET
from dpsql.ledger.storage.sqlite import Database
from dpsql.ledger.terms import LedgerTerms, differences
from dpsql.structs import replace

_CREATE = "check the path; an owner's command creates a ledger, a server never does"


def open_chain(
    location: Location, anchor_path: Path, terms: LedgerTerms | None, *, create: bool, clock: Clock
) -> tuple[Chain, ProcessLock]:
    """The checked chain under `terms` (None: the recorded), and this opening's process lock."""
    anchor = Anchor(anchor_path.absolute())
    with ExitStack() as stack:
        database = _connect(location, anchor, create=create and terms is not None)
        stack.callback(database.close)
        chain = Chain(database, anchor, clock)
        _begin(chain, terms if create else None)
        if anchor.tail().seq == 0:
            # Before anything follows the first entry: a longer chain without an anchor is a fault.
            chain.publish_all()
        check_checkpoint(chain)
        _settle(chain, terms)
        with database.writing():
            database.remove_stale()
            tidy_room(chain)
            owner = database.sign()
            stack.callback(owner.close)
        # On a full disk, stored answers can still be read; the next charge publishes all entries.
        with suppress(LedgerFull):
            chain.publish_all()
        stack.pop_all()
    return chain, owner


def can_write(location: Location, anchor: Path) -> bool:
    """Whether the files of a ledger, and SQLite's files beside them, can be written."""
    files = [path for path in (location, anchor) if isinstance(path, Path)]
    return all(
        os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
        for path in files
        if path.parent.exists()
    )


def exists(location: Location, anchor: Path) -> bool:
    """Whether the ledger or its anchor exists."""
    match location:
        case Path():
            return location.exists() or anchor.exists()
        case Server():
            with closing(connect_server(location)) as database, database.reading():
                return not database.blank() or anchor.exists()
        case missing:
            assert_never(missing)


def _connect(location: Location, anchor: Anchor, *, create: bool) -> Backend:
    match location:
        case Path():
            return _open_file(location.absolute(), anchor, create=create)
        case Server():
            check_anchor(anchor.path)
            return connect_server(location)
        case missing:
            assert_never(missing)


def _open_file(path: Path, anchor: Anchor, *, create: bool) -> Database:
    check_locations(path, anchor.path)
    # The anchor is looked for first: a process that creates both creates the ledger before it.
    anchored = anchor.exists()
    if not path.exists():
        if anchored:
            raise fault(path, f"is missing, though its anchor {anchor.path} exists", RESTORE)
        if path.with_name(path.name + "-wal").exists():
            # SQLite would throw the log away with all that was spent last.
            raise fault(path, "is missing, though its log (-wal) exists", RESTORE)
        if not create:
            raise fault(path, "doesn't exist", _CREATE)
        create_private(path)
    if not can_write(path, path):
        do = (
            "make the file and its folder writable; dpsql budget and ledger verify read it as it is"
        )
        raise fault(path, "can't be written", do)
    return Database(path)


def apply_terms(chain: Chain, terms: LedgerTerms, seq: int) -> None:
    """Puts `terms`, those of entry `seq`, in force, in SQL's own CHECK of the account, too."""
    chain.store.set_terms(seq)
    account = chain.store.account(DATASET)
    backstop = Cap(terms.cap.amount, terms.cap.delta).hard_limit(account)
    chain.store.set_account(DATASET, account, backstop)


def recorded_terms(chain: Chain) -> LedgerTerms:
    """The terms in force; LedgerFault if the tables name no entry that has terms."""
    entry = chain.entry(chain.store.terms())
    if not isinstance(entry.event, Opened | Tightened | Amended):
        raise fault(chain.path, "has no terms in force", RESTORE)
    return entry.event.terms


def terms_on_disk(chain: Chain) -> LedgerTerms:
    """The terms in force, as a ledger's file has them now; LedgerFault if it has been damaged.

    A connection that was opened before has pages of it in memory, and doesn't see what became of
    the file.
    """
    if not isinstance(chain.path, Path):
        return recorded_terms(chain)
    with closing(Database(chain.path, reads=True)) as database, database.reading():
        return recorded_terms(Chain(database, chain.anchor, chain.clock))


def check_fixed(chain: Chain, recorded: LedgerTerms, proposed: LedgerTerms) -> None:
    """Raises LedgerFault if terms that no owner can amend differ: dataset, relation, accounting."""
    fixed = differences(recorded, proposed).fixed
    if fixed:
        what = "was created for another promise: " + "; ".join(fixed)
        do = "name another ledger; these never change, and losses add up over ledgers"
        raise fault(chain.path, what, do)


def _begin(chain: Chain, terms: LedgerTerms | None) -> None:
    with chain.database.writing():
        if not chain.database.blank():
            chain.database.upgrade()
            chain.database.check_format()
            # The process that created a ledger may have died before it wrote the anchor, and a
            # server that is new to a shared ledger has no anchor yet.
            new = chain.store.last() <= 1 or (
                chain.database.is_shared and not chain.anchor.exists()
            )
            if not new and chain.anchor.tail().seq == 0:
                raise fault(chain.anchor.path, f"is missing or empty beside {chain.path}", RESTORE)
            return
        if chain.anchor.exists():
            raise fault(chain.path, "is empty, though its anchor isn't missing", RESTORE)
        if terms is None:
            raise fault(chain.path, "is empty", _CREATE)
        chain.database.create()
        entry = chain.append(Opened(secrets.token_hex(16), terms))
        chain.store.set_account(DATASET, Spent(), (None, None))
        chain.store.begin(entry.seq)
        apply_terms(chain, terms, entry.seq)


def _settle(chain: Chain, terms: LedgerTerms | None) -> None:
    with chain.writing():
        if terms is not None:
            _reconcile(chain, terms)
    # The next opening can burn dead requests, too, once there is room on the disk.
    with suppress(LedgerFull), chain.writing():
        open_requests = chain.store.unsettled()
        owners = {request.owner for request in open_requests}
        living = {name for name in owners if chain.database.is_alive(name)}
        for request in open_requests:
            if request.owner not in living:
                burn_orphans(chain, request)
        write_checkpoint(chain)


def _reconcile(chain: Chain, proposed: LedgerTerms) -> None:
    recorded = recorded_terms(chain)
    check_fixed(chain, recorded, proposed)
    changes = differences(recorded, proposed)
    if changes.looser:
        raise fault(
            chain.path,
            "was created under stricter terms: " + "; ".join(changes.looser),
            "the owner can agree to them with `dpsql ledger amend`, which is logged",
        )
    if changes.tighter:
        # The schema of smaller caps may also loosen a bound: only an owner agrees to a policy.
        tightened = replace(recorded, cap=proposed.cap, conversion_delta=proposed.conversion_delta)
        entry = chain.append(Tightened(tightened, proposed.policy_hash))
        apply_terms(chain, tightened, entry.seq)
