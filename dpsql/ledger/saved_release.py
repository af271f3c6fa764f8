"""Saved releases: tables that analysts keep under names, with their owner and quota.

A name is an analyst's own. An entry of the chain gives it its meaning, by the hashes of the table's
metadata and of its rows. Metadata and rows are stored in a table of the database and deleted when
the name is dropped, so that saving and dropping again and again fills no disk. What was charged for
the rows stays charged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import MappingProxyType

from msgspec import Struct

from dpsql.errors import NameTaken, NotOwner, QuotaSpent, UnknownRelease
from dpsql.ledger.chain.checkpoint import write_checkpoint
from dpsql.ledger.chain.entry import Dropped, Entry, Saved
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.charge import check_key
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.terms import check_name, check_text

Transaction = Callable[[], AbstractContextManager[None]]


class SavedReleaseInfo(Struct, frozen=True):
    """A saved release without its rows: entry number `entry`, of the time `at`, gave it its name.

    `name` is folded: no two of one analyst's are equal under casefold. `metadata` is the text that
    the session stored with it, `keys` are the stored releases that its rows were computed from.
    """

    name: str
    analyst: str
    metadata: str
    keys: tuple[str, ...]
    entry: int
    at: datetime


NOTHING: Mapping[int, SavedReleaseInfo] = MappingProxyType({})


class ReleaseName(Struct, frozen=True):
    """An analyst's name for a table, folded.

    `shared`: analysts see each other's tables, so that no two tables may have one name.
    `max_releases` is how many tables one analyst may keep.
    """

    analyst: str
    name: str
    shared: bool
    max_releases: int


class SavedReleaseStore:
    """The saved releases of one ledger; each call is one transaction."""

    def __init__(self, chain: Chain, reading: Transaction, writing: Transaction) -> None:
        self._chain = chain
        self._reading = reading
        self._writing = writing

    def all(self, known: Mapping[int, SavedReleaseInfo] = NOTHING) -> tuple[SavedReleaseInfo, ...]:
        """Every saved release, the oldest first; `known` has some by entry, not read again."""
        with self._reading():
            entries = sorted(self._chain.store.all_named().values())
            return tuple(
                known.get(seq) or _named(self._chain, self._chain.entry(seq)) for seq in entries
            )

    def rows(self, table: SavedReleaseInfo) -> bytes:
        """The stored rows of `table`; UnknownRelease if it was dropped or replaced since."""
        with self._reading():
            entry = self._chain.store.all_named().get((table.analyst, table.name))
            if entry != table.entry:
                raise UnknownRelease(f"{table.name} was dropped, or replaced, meanwhile")
            return rows_of(self._chain, self._chain.entry(table.entry))

    def check(self, name: ReleaseName, *, replace: bool) -> None:
        """Raises what `keep` would raise now; called before anything is charged."""
        with self._reading():
            _check(self._chain, name, replace=replace)

    def keep(
        self, name: ReleaseName, metadata: str, rows: bytes, keys: Sequence[str], *, replace: bool
    ) -> int:
        """Saves `rows` and `metadata` under `name`; returns the number of the entry.

        `replace` allows to replace a table of the same analyst. `keys` are the stored releases that
        the rows were computed from; NotOwner if the analyst hasn't seen one of them. Also raises
        NameTaken, NotOwner of another analyst's name, and QuotaSpent if there are too many tables.
        """
        check_name(name.analyst, "analyst")
        check_name(name.name, "name")
        check_text(metadata, "what is said of a table")
        for key in keys:
            check_key(key)
        with self._writing():
            _check(self._chain, name, replace=replace)
            for key in keys:
                if self._chain.store.paid_seq(key, name.analyst) is None:
                    raise NotOwner("the table was made of a release that its maker hasn't seen")
            hashes = _sha256(metadata.encode()), _sha256(rows)
            entry = self._chain.append(Saved(name.name, name.analyst, *hashes, tuple(keys)))
            self._chain.store.name((name.analyst, name.name), entry.seq, metadata, rows)
            write_checkpoint(self._chain)
        return entry.seq

    def drop(self, name: ReleaseName) -> None:
        """Deletes `name` and its rows; UnknownRelease if there is none, NotOwner if another's."""
        with self._writing():
            entries = self._chain.store.all_named()
            if (name.analyst, name.name) not in entries:
                if name.shared and any(other == name.name for _, other in entries):
                    raise NotOwner(f"{name.name} is another analyst's: only its maker may drop it")
                raise UnknownRelease(
                    f"there is no release {name.name}", hint="SHOW dpsql.releases lists them"
                )
            self._chain.append(Dropped(name.name, name.analyst))
            self._chain.store.unname((name.analyst, name.name))
            write_checkpoint(self._chain)


def metadata_of(chain: Chain, entry: Entry) -> str:
    """The metadata of the table that `entry` names, checked against its hash; or LedgerFault."""
    event = _event(chain, entry)
    about = chain.store.metadata((event.analyst, event.name))
    if about is None or _sha256(about.encode()) != event.about:
        raise _damaged(chain)
    return about


def rows_of(chain: Chain, entry: Entry) -> bytes:
    """The rows of the table that `entry` names, checked against their hash; or LedgerFault."""
    event = _event(chain, entry)
    rows = chain.store.named_rows((event.analyst, event.name))
    if rows is None or _sha256(rows) != event.rows:
        raise _damaged(chain)
    return rows


def _check(chain: Chain, wanted: ReleaseName, *, replace: bool) -> None:
    name, entries = wanted.name, chain.store.all_named()
    if (wanted.analyst, name) in entries:
        if not replace:
            raise NameTaken(
                f"there is a release {name} already",
                hint="write CREATE OR REPLACE, or give it another name",
            )
        return
    if wanted.shared and any(other == name for _, other in entries):
        if replace:
            raise NotOwner(f"{name} is another analyst's: only its maker may replace it")
        raise NameTaken(f"there is a release {name} already", hint="give it another name")
    if sum(owner == wanted.analyst for owner, _ in entries) >= wanted.max_releases:
        raise QuotaSpent(
            f"one analyst keeps at most {wanted.max_releases} releases and synopses",
            hint="DROP one of those that SHOW dpsql.releases and SHOW dpsql.alerts list"
            if wanted.max_releases
            else "ask without CREATE",
        )


def _named(chain: Chain, entry: Entry) -> SavedReleaseInfo:
    event = _event(chain, entry)
    about = metadata_of(chain, entry)
    return SavedReleaseInfo(event.name, event.analyst, about, event.keys, entry.seq, entry.at)


def _event(chain: Chain, entry: Entry) -> Saved:
    if not isinstance(entry.event, Saved):
        raise fault(chain.path, f"gives no name in entry {entry.seq}", RESTORE)
    return entry.event


def _damaged(chain: Chain) -> Exception:
    return fault(chain.path, "has a named table that is damaged", RESTORE)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
