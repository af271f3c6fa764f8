"""Appends entries, publishes them to the anchor, and refuses a chain that isn't its anchor's.

An entry is committed first and anchored second. A crash between the two leaves the anchor with too
few lines, which the next writer adds; the other order would leave it with too many, which is what a
rollback looks like. So only entries that are on disk are anchored. A charge is committed before
anyone may act on it; it is on disk, and so is its line, before anything of the answer is told. If
the power fails in between, or an older ledger is restored then, a charge is lost of which nobody
saw an answer. The entry that settles a charge is on disk and anchored with the next charge, since
losing that costs an answer and no privacy. The anchor is written under the ledger's own write lock,
by the first writer to get it and for all entries that have no line yet.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from dpsql.ledger.chain.anchor import Anchor, Tail, line
from dpsql.ledger.chain.entry import START, Entry, Event, decode, encode, link
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.backend import Backend
from dpsql.ledger.storage.queries import Row, Store

_LONG = 64 * 1024
"""Characters of an entry that holds a large policy: every opening reads it several times."""

JUMP = timedelta(seconds=10)
"""A clock that is behind by more than this was set back, or differs from another server's."""

BATCH = 500
"""How many entries are read at once."""

ALL = 2**62
"""A limit on rows that is none."""

_NO_OTHERS = nullcontext()

_LOG = logging.getLogger("dpsql.ledger")

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The system's clock."""
    return datetime.now(UTC)


class Chain:
    """The entries in `database` and the lines in `anchor`, which must be one history."""

    def __init__(self, database: Backend, anchor: Anchor, clock: Clock) -> None:
        self.path = database.path
        self.database = database
        self.store = Store(database)
        self.anchor = anchor
        self.clock = clock
        self._anchored = 0
        self._appended: tuple[tuple[str, str, str], Entry] | None = None
        self._warned = False

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[None]:
        """An exclusive transaction; LedgerFault if the anchor isn't this chain's.

        Unless it `waits`, it is on disk only with the next one that does, which looks at the anchor
        for both: until then none of its entries has a line.
        """
        with self.database.writing(waits=waits):
            if waits:
                self.confirm()
            yield

    def confirm(self) -> Tail:
        """Checks that the anchor's last line is in the chain, in constant time; or LedgerFault."""
        tail, _ = self._confirmed(0)
        return tail

    def _confirmed(self, last: int) -> tuple[Tail, list[tuple[int, str]]]:
        """The anchor's last line, checked so, and the entries without a line up to entry `last`."""
        tail = self.anchor.tail()
        if tail.seq < self._anchored:
            raise fault(self.anchor.path, "lost lines while the ledger was open", RESTORE)
        self._anchored = tail.seq
        after = max(last - tail.seq, 0)
        if not tail.seq:
            return tail, self.store.links(1, after)
        links = self.store.links(tail.seq, 1 + after)
        if not links:
            last = self.store.last()
            what = f"was rolled back: it ends at entry {last}, its anchor at {tail.seq}"
            raise fault(self.path, what, RESTORE)
        if links[0][1] != tail.hash:
            raise self.not_its_anchor(tail.seq)
        return tail, links[1:]

    def append(self, event: Event) -> Entry:
        """Appends an entry. Its time is never before the last entry's, whatever the clock says."""
        rows = self.store.end()
        head = self._checked(rows[-1].seq, rows) if rows else None
        last = 0 if head is None else head.seq
        now = self.clock()
        if head is not None and not self._warned and head.at - now > JUMP:
            self._warned = True
            _LOG.warning(
                "the clock is %d s behind the ledger's last entry: entries keep the time of that"
                " one until the clock has passed it; set the clock",
                (head.at - now).total_seconds(),
            )
        at = now if head is None else max(now, head.at)
        before = START if head is None else head.hash
        text = encode(last + 1, at, event)
        entry = Entry(last + 1, at, event, link(before, text))
        self.store.append(Row(entry.seq, entry.hash, text))
        # Every charge is read again when it is settled, and its end by the next charge.
        self._appended = (before, text, entry.hash), entry
        return entry

    def publish(self, last: int, use: AbstractContextManager[None] = _NO_OTHERS) -> None:
        """The entries up to `last`, which are committed, are on disk; then, so are their lines.

        `use` is held for the lines alone: other threads needn't wait for the disk.
        """
        self.database.sync()
        with use, self.database.writing(waits=False):  # of the ledger, nothing is written
            tail, links = self._confirmed(last)
            if links:
                self.anchor.append(tail, b"".join([line(*link) for link in links]))
                self._anchored, _ = links[-1]
        self.anchor.sync()  # whoever wrote them

    def publish_all(self) -> None:
        """All entries are on disk, and have their lines; those that are written now are, too."""
        with self.database.writing():
            last = self.store.last()
            if self.confirm().seq == last:
                return
        self.publish(last)

    def entry(self, seq: int) -> Entry:
        """Entry `seq`, its hash checked by that of the entry before it; LedgerFault if damaged."""
        return self._checked(seq, self.store.rows(max(seq - 2, 0), min(seq, 2)))

    def linked(self, before: str, row: Row) -> Entry:
        """The entry in `row`, checked to follow an entry with the hash `before`; or LedgerFault."""
        if self._appended is not None and self._appended[0] == (before, row.body, row.hash):
            return self._appended[1]
        read = _read_long if len(row.body) > _LONG else _read_short
        try:
            entry = read(before, row.body, row.hash)
        except ValueError as error:
            raise fault(self.path, f"has no readable entry {row.seq}", RESTORE) from error
        if entry is None or entry.seq != row.seq:
            raise fault(self.path, f"is damaged at entry {row.seq}", RESTORE)
        return entry

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after entry `after`, in order, each checked to follow the one before it."""
        before, seq = self.entry(after).hash if after else START, after
        while rows := self.store.rows(seq, BATCH):
            for row in rows:
                if row.seq != seq + 1:
                    raise fault(self.path, f"lacks entry {seq + 1}", RESTORE)
                yield self.linked(before, row)
                before, seq = row.hash, row.seq

    def _checked(self, seq: int, rows: list[Row]) -> Entry:
        """Entry `seq`, of the `rows` of it and of the one before it; LedgerFault if damaged."""
        if [row.seq for row in rows] not in ([seq], [seq - 1, seq]):
            raise fault(self.path, f"lacks entry {seq}", RESTORE)
        return self.linked(START if seq == 1 else rows[0].hash, rows[-1])

    def not_its_anchor(self, seq: int) -> Exception:
        """The fault of a chain that differs from its anchor at entry `seq`."""
        return fault(
            self.path,
            f"has another entry {seq} than its anchor {self.anchor.path}: it was rewritten, or the "
            "anchor is another ledger's",
            "name the anchor this ledger was created with; " + RESTORE,
        )


def _read(before: str, body: str, own_hash: str) -> Entry | None:
    """The entry in the JSON `body`; None if its hash isn't `own_hash`, ValueError if it is none."""
    return decode(body, own_hash) if link(before, body) == own_hash else None


_read_short = lru_cache(maxsize=256)(_read)
_read_long = lru_cache(maxsize=2)(_read)
