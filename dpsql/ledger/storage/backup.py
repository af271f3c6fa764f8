"""A copy of a live ledger, whole at one moment, that its anchor will know for what it is.

The copy has no anchor of its own: it is good as long as nothing was charged since, and a rollback
from then on. So it can be put in the ledger's place, or named as the ledger, right after it was
made; an old one is refused, and so is the original once the copy was charged.
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
    """The file `target`, which must not exist yet, is a copy of the chain's ledger, on disk."""
    if chain.database.is_shared:
        raise fault(chain.path, "is on a server", "copy it with pg_dump, and restore the newest")
    check_locations(target, chain.anchor.path)
    if target.exists():
        raise fault(target, "exists already", "name a new file: backups are never overwritten")
    create_private(target)
    # No other process writes meanwhile, or the copy would begin again and again.
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
