"""A copy of a live ledger, of one moment, with the ledger's own anchor.

As the copy has no anchor of its own, it counts as the ledger as long as nothing was charged since,
and as a rollback from then on. So it can replace the ledger, or be named as the ledger, right after
it was made; an old copy is refused, and so is the original once the copy was charged.
"""

from __future__ import annotations

import os
from pathlib import Path

from dpsql.ledger.chain.anchor import Anchor
from dpsql.ledger.chain.checkpoint import check_checkpoint
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.fault import fault, translated_errors
from dpsql.ledger.storage.file_safety import check_locations, create_private
from dpsql.ledger.storage.sqlite import Database


def back_up(chain: Chain, target: Path) -> None:
    """Copies the chain's ledger to `target`, synced and checked; LedgerFault if it exists."""
    if chain.database.is_shared:
        raise fault(chain.path, "is on a server", "copy it with pg_dump, and restore the newest")
    check_locations(target, chain.anchor.path)
    if target.exists():
        raise fault(target, "exists already", "name a new file: backups are never overwritten")
    create_private(target)
    # Under the write lock: if another process wrote, SQLite would begin the copy again and again.
    with chain.writing():
        chain.database.copy(target)
    with translated_errors(target), target.open("rb") as file:
        os.fsync(file.fileno())
    _check(chain, target)


def _check(chain: Chain, target: Path) -> None:
    copy = Database(target)
    try:
        copy.check_format()
        copy.check_pages()
        check_checkpoint(Chain(copy, Anchor(chain.anchor.path), chain.clock))
    finally:
        copy.close()
