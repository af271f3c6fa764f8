"""Tables that analysts keep under names: whose they are, how many, what each means.

A name is an analyst's own. Its meaning is an entry of the chain with the hashes of what is said of
the table and of its rows; both lie in a table of the database, and go when the name is dropped, so
that who keeps and drops for ever fills no disk. What was charged for the rows stays charged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from dpsql.errors import NameTaken, NotOwner, QuotaSpent, UnknownRelease
from dpsql.ledger.chain import Chain
from dpsql.ledger.entry import Dropped, Entry, Named
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.request import check_key
from dpsql.ledger.terms import check_name, check_text
from dpsql.ledger.total import sum_up

MOST_NAMES = 20
"""So many tables one analyst keeps."""

Transaction = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class NamedTable:
    """What is known of a kept table without its rows: `entry` is what gave it its name.

    `name` is folded: no two of one analyst's are equal under casefold. `about` is what its maker
    says of it, `keys` are the kept releases that its rows were made of.
    """

    name: str
    analyst: str
    about: str
    keys: tuple[str, ...]
    entry: int
    at: datetime


class Names:
    """One ledger's names; each call is one transaction.

    `shared`: analysts see each other's tables, so that no two may have one name.
    """

    def __init__(self, chain: Chain, reading: Transaction, writing: Transaction) -> None:
        self._chain = chain
        self._reading = reading
        self._writing = writing

    def all(self) -> tuple[NamedTable, ...]:
        """Every table, the oldest first."""
        with self._reading():
            found = sorted(self._chain.store.all_named().values())
            return tuple(_named(self._chain, self._chain.entry(seq)) for seq in found)

    def rows(self, table: NamedTable) -> bytes:
        """What `table` holds, as it was kept; UnknownRelease if it was dropped since."""
        with self._reading():
            found = self._chain.store.all_named().get((table.analyst, table.name))
            if found != table.entry:
                raise UnknownRelease(f"{table.name} was dropped, or replaced, meanwhile")
            return rows_of(self._chain, self._chain.entry(table.entry))

    def check(self, analyst: str, name: str, *, replace: bool, shared: bool) -> None:
        """Refuses what `keep` would refuse now: asked before anything is charged."""
        with self._reading():
            _check(self._chain, (analyst, name), replace=replace, shared=shared)

    def keep(
        self,
        analyst: str,
        name: str,
        about: str,
        rows: bytes,
        keys: Sequence[str],
        *,
        replace: bool,
        shared: bool,
    ) -> int:
        """`name` of `analyst` means `rows` from now on; the number of the entry that says so.

        `replace` lets it take the place of one of the same analyst's. The releases `keys`, of which
        the rows were made, are kept ones that this analyst has seen.
        """
        check_name(analyst, "analyst")
        check_name(name, "name")
        check_text(about, "what is said of a table")
        for key in keys:
            check_key(key)
        with self._writing():
            _check(self._chain, (analyst, name), replace=replace, shared=shared)
            for key in keys:
                if self._chain.store.seen(key, analyst) is None:
                    raise NotOwner("the table was made of a release that its maker hasn't seen")
            event = Named(name, analyst, _sha256(about.encode()), _sha256(rows), tuple(keys))
            entry = self._chain.append(event)
            self._chain.store.name((analyst, name), entry.seq, about, rows)
            sum_up(self._chain)
        return entry.seq

    def drop(self, analyst: str, name: str, *, shared: bool) -> None:
        """`name` of `analyst` means nothing any more; UnknownRelease, NotOwner."""
        with self._writing():
            found = self._chain.store.all_named()
            if (analyst, name) not in found:
                if shared and any(other == name for _, other in found):
                    raise NotOwner(f"{name} is another analyst's: only who made it may drop it")
                raise UnknownRelease(
                    f"there is no release {name}", hint="SHOW dpsql.releases lists them"
                )
            self._chain.append(Dropped(name, analyst))
            self._chain.store.unname((analyst, name))
            sum_up(self._chain)


def described(chain: Chain, entry: Entry) -> str:
    """What is said of the table that `entry` names, checked."""
    event = _event(chain, entry)
    about = chain.store.about((event.analyst, event.name))
    if about is None or _sha256(about.encode()) != event.about:
        raise _damaged(chain)
    return about


def rows_of(chain: Chain, entry: Entry) -> bytes:
    """What the table that `entry` names holds, checked."""
    event = _event(chain, entry)
    rows = chain.store.named_rows((event.analyst, event.name))
    if rows is None or _sha256(rows) != event.rows:
        raise _damaged(chain)
    return rows


def _check(chain: Chain, names: tuple[str, str], *, replace: bool, shared: bool) -> None:
    analyst, name = names
    found = chain.store.all_named()
    if names in found:
        if not replace:
            raise NameTaken(
                f"there is a release {name} already",
                hint=f"CREATE OR REPLACE RELEASE {name} AS …, or DROP RELEASE {name}",
            )
        return
    if shared and any(other == name for _, other in found):
        if replace:
            raise NotOwner(f"{name} is another analyst's: only who made it may replace it")
        raise NameTaken(f"there is a release {name} already", hint="give it another name")
    if sum(owner == analyst for owner, _ in found) >= MOST_NAMES:
        raise QuotaSpent(
            f"one analyst keeps at most {MOST_NAMES} releases and synopses",
            hint="DROP RELEASE one of those that SHOW dpsql.releases lists",
        )


def _named(chain: Chain, entry: Entry) -> NamedTable:
    event = _event(chain, entry)
    about = described(chain, entry)
    return NamedTable(event.name, event.analyst, about, event.keys, entry.seq, entry.at)


def _event(chain: Chain, entry: Entry) -> Named:
    if not isinstance(entry.event, Named):
        raise fault(chain.path, f"gives no name in entry {entry.seq}", RESTORE)
    return entry.event


def _damaged(chain: Chain) -> Exception:
    return fault(chain.path, "has a named table that is damaged", RESTORE)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
