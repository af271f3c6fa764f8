"""The SQL that reads and writes the ledger's tables, and checks the type of every value read.

A bit that flips in a record's header turns text into bytes or a number into NULL, so a value that
has another type than its column raises LedgerFault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dpsql.ledger.amount import DIGITS, padded
from dpsql.ledger.caps import Spent
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.backend import Backend

# The account of the dataset; analysts' names are never empty.
DATASET = ""


class Row(NamedTuple):
    """An entry as it is stored: number, hash, JSON."""

    seq: int
    hash: str
    body: str


class Request(NamedTuple):
    """A request: the entry that charged it, the one that settled it (None: not yet), and its owner.

    `owner` is the name of the process lock of the opening that runs it.
    """

    id: str
    charged: int
    settled: int | None
    owner: str


class Store:
    """Statements on the tables; each runs in the transaction that is open on `database`."""

    def __init__(self, database: Backend) -> None:
        self.path = database.path
        self._run = database.run

    def append(self, row: Row) -> None:
        """Appends an entry."""
        self._run("INSERT INTO entry VALUES (?, ?, ?)", *row)

    def rows(self, after: int, limit: int) -> list[Row]:
        """At most `limit` entries that follow entry `after`, in order."""
        query = "SELECT seq, hash, body FROM entry WHERE seq > ? ORDER BY seq LIMIT ?"
        return [self._row(row) for row in self._run(query, after, limit)]

    def links(self, first: int, limit: int) -> list[tuple[int, str]]:
        """Numbers and hashes of at most `limit` entries, from entry `first` on, in order."""
        query = "SELECT seq, hash FROM entry WHERE seq >= ? ORDER BY seq LIMIT ?"
        return [(self._integer(n), self._text(own)) for n, own in self._run(query, first, limit)]

    def end(self) -> list[Row]:
        """The last two entries, or as many as there are, in order."""
        query = "SELECT seq, hash, body FROM entry ORDER BY seq DESC LIMIT 2"
        return [self._row(row) for row in reversed(self._run(query))]

    def last(self) -> int:
        """The number of the last entry, 0 if there is none."""
        ((last,),) = self._run("SELECT max(seq) FROM entry")
        return self._integer(last) if last is not None else 0

    def terms(self) -> int:
        """The number of the entry with the terms in force."""
        return self._integer(self._in_force()[0])

    def summed_and_last(self) -> tuple[int, int]:
        """The numbers of the last checkpoint, 0 if there is none yet, and of the last entry."""
        _, summed, last = self._in_force()
        return 0 if summed is None else self._integer(summed), self._integer(last)

    def begin(self, seq: int) -> None:
        """Puts the first terms in force, those of entry `seq`."""
        self._run("INSERT INTO in_force VALUES (?, NULL)", seq)

    def set_terms(self, seq: int) -> None:
        """Puts the terms of entry `seq` in force."""
        self._run("UPDATE in_force SET terms = ?", seq)

    def set_summed(self, seq: int) -> None:
        """Records that the last checkpoint is entry `seq`."""
        self._run("UPDATE in_force SET summed = ?", seq)

    def account(self, analyst: str) -> Spent:
        """The account of the dataset or of one analyst; zero if it was never charged."""
        query = "SELECT spent, delta FROM account WHERE analyst = ?"
        for spent, delta in self._run(query, analyst):
            return Spent(self._units(spent), self._units(delta))
        return Spent()

    def accounts(self) -> dict[str, Spent]:
        """Every account, by name."""
        return {
            self._text(name): Spent(self._units(spent), self._units(delta))
            for name, spent, delta in self._run("SELECT analyst, spent, delta FROM account")
        }

    def set_account(
        self, analyst: str, total: Spent, backstop: tuple[int | None, int | None]
    ) -> None:
        """Sets the account's totals, which SQL's CHECK compares with `backstop` (ε or ρ, δ)."""
        cap, delta_cap = (None if limit is None else padded(limit) for limit in backstop)
        spent, delta = padded(total.spent), padded(total.delta)
        query = (
            "INSERT INTO account VALUES (?, ?, ?, ?, ?) ON CONFLICT (analyst) DO UPDATE SET "
            "spent = excluded.spent, cap = excluded.cap, "
            "delta = excluded.delta, delta_cap = excluded.delta_cap"
        )
        self._run(query, analyst, spent, cap, delta, delta_cap)

    def request(self, request_id: str) -> Request | None:
        """The request of that id, None if there is none."""
        requests = self._requests("WHERE id = ?", request_id)
        return requests[0] if requests else None

    def requests(self) -> list[Request]:
        """Every request."""
        return self._requests("")

    def unsettled(self) -> list[Request]:
        """Requests that aren't settled yet, in the order in which they were charged."""
        return self._requests("WHERE settled IS NULL ORDER BY charged")

    def charges(self) -> int:
        """How many requests there were, each charged once."""
        ((count,),) = self._run("SELECT count(*) FROM request")
        return self._integer(count)

    def add_request(self, request_id: str, charged: int, owner: str) -> None:
        """Adds a request whose charge is entry `charged`."""
        self._run("INSERT INTO request VALUES (?, ?, NULL, ?)", request_id, charged, owner)

    def settle(self, request_id: str, seq: int) -> None:
        """Records that entry `seq` settles the request."""
        self._run("UPDATE request SET settled = ? WHERE id = ?", seq, request_id)

    def add_answers(self, answers: Mapping[str, bytes]) -> None:
        """Stores `answers`, by their hashes, but for those that are stored already."""
        for own_hash, answer in answers.items():
            self._run("INSERT INTO answer VALUES (?, ?) ON CONFLICT DO NOTHING", own_hash, answer)

    def answer(self, own_hash: str) -> bytes | None:
        """The answer of that hash, unchecked; None if there is none that is bytes."""
        for (answer,) in self._run("SELECT bytes FROM answer WHERE hash = ?", own_hash):
            return answer if isinstance(answer, bytes) else None
        return None

    def answers(self) -> list[str]:
        """The hash of every answer."""
        return [self._text(own_hash) for (own_hash,) in self._run("SELECT hash FROM answer")]

    def store_answer(self, key: str, released: int) -> None:
        """Records that entry `released` stores that key's release, unless an earlier one does."""
        self._run("INSERT INTO kept VALUES (?, ?) ON CONFLICT DO NOTHING", key, released)

    def stored_seq(self, key: str) -> int | None:
        """The number of the entry that stores the release of that key, None if there is none."""
        for (seq,) in self._run("SELECT released FROM kept WHERE key = ?", key):
            return self._integer(seq)
        return None

    def all_stored(self) -> dict[str, int]:
        """The key of every stored release, with the number of its entry."""
        rows = self._run("SELECT key, released FROM kept")
        return {self._text(key): self._integer(seq) for key, seq in rows}

    def fail(self, key: str, seq: int) -> None:
        """Records that by entry `seq` the release of that key couldn't be computed."""
        self._run("INSERT INTO failed VALUES (?, ?)", key, seq)

    def failed(self, key: str) -> list[int]:
        """The numbers of the entries by which the release of that key couldn't be computed."""
        query = "SELECT entry FROM failed WHERE key = ? ORDER BY entry"
        return [self._integer(seq) for (seq,) in self._run(query, key)]

    def all_failed(self) -> set[tuple[str, int]]:
        """Every failure: the release's key and the number of the entry."""
        rows = self._run("SELECT key, entry FROM failed")
        return {(self._text(key), self._integer(seq)) for key, seq in rows}

    def mark_paid(self, key: str, analyst: str, seq: int) -> None:
        """Records that by entry `seq` the analyst has seen the release of that key."""
        self._run("INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key, analyst, seq)

    def paid_seq(self, key: str, analyst: str) -> int | None:
        """The number of the entry by which the analyst has seen the release; None if not yet."""
        query = "SELECT entry FROM seen WHERE key = ? AND analyst = ?"
        for (seq,) in self._run(query, key, analyst):
            return self._integer(seq)
        return None

    def all_paid(self) -> dict[tuple[str, str], int]:
        """Every pair (key, analyst) of a release that was seen, with the number of the entry."""
        rows = self._run("SELECT key, analyst, entry FROM seen")
        return {(self._text(k), self._text(a)): self._integer(seq) for k, a, seq in rows}

    def name(self, names: tuple[str, str], seq: int, metadata: str, rows: bytes) -> None:
        """Saves `metadata` and `rows` under `names` (analyst, name), as entry `seq` says."""
        self._run(
            "INSERT INTO named VALUES (?, ?, ?, ?, ?) ON CONFLICT (analyst, name) DO UPDATE SET "
            "entry = excluded.entry, about = excluded.about, bytes = excluded.bytes",
            *names,
            seq,
            metadata,
            rows,
        )

    def unname(self, names: tuple[str, str]) -> None:
        """Deletes the table that is saved under `names` (analyst, name)."""
        self._run("DELETE FROM named WHERE analyst = ? AND name = ?", *names)

    def all_named(self) -> dict[tuple[str, str], int]:
        """Every pair (analyst, name) of a saved table, with the number of its entry."""
        rows = self._run("SELECT analyst, name, entry FROM named")
        return {(self._text(a), self._text(n)): self._integer(seq) for a, n, seq in rows}

    def metadata(self, names: tuple[str, str]) -> str | None:
        """The metadata of the table saved under `names` (analyst, name); None if there is none."""
        for (about,) in self._run("SELECT about FROM named WHERE analyst = ? AND name = ?", *names):
            return self._text(about)
        return None

    def named_rows(self, names: tuple[str, str]) -> bytes | None:
        """The rows of that table, unchecked; None if there are none that are bytes."""
        for (rows,) in self._run("SELECT bytes FROM named WHERE analyst = ? AND name = ?", *names):
            return rows if isinstance(rows, bytes) else None
        return None

    def refuse(self, refusal: tuple[str, ...], at: str, limit: int) -> None:
        """Counts a refusal: analyst, SQLSTATE, query, message; keeps the latest `limit`."""
        self._run(
            "INSERT INTO refusal VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (analyst, sqlstate, query) "
            "DO UPDATE SET times = refusal.times + 1, last = excluded.last",
            *refusal,
            at,
        )
        ((count,),) = self._run("SELECT count(*) FROM refusal")
        if self._integer(count) > limit:
            self._run("DELETE FROM refusal WHERE last = (SELECT min(last) FROM refusal)")

    def refusals(self) -> list[tuple[tuple[str, str, str, str], int, str]]:
        """Every recorded refusal, with its count and the time of its last occurrence."""
        query = "SELECT analyst, sqlstate, query, message, times, last FROM refusal ORDER BY last"
        return [
            (
                (self._text(a), self._text(s), self._text(q), self._text(m)),
                self._integer(count),
                self._text(last),
            )
            for a, s, q, m, count, last in self._run(query)
        ]

    def _in_force(self) -> tuple[object, ...]:
        rows = self._run("SELECT terms, summed, (SELECT max(seq) FROM entry) FROM in_force")
        if len(rows) != 1:
            raise fault(self.path, "has no terms in force", RESTORE)
        return rows[0]

    def _requests(self, where: str, *values: object) -> list[Request]:
        query = f"SELECT id, charged, settled, owner FROM request {where}"  # noqa: S608 - our text
        return [
            Request(
                self._text(name),
                self._integer(charged),
                None if settled is None else self._integer(settled),
                self._text(owner),
            )
            for name, charged, settled, owner in self._run(query, *values)
        ]

    def _row(self, values: tuple[object, ...]) -> Row:
        seq, own_hash, body = values
        if isinstance(seq, int) and isinstance(own_hash, str) and isinstance(body, str):
            return Row(seq, own_hash, body)
        raise fault(self.path, "is damaged", RESTORE)

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise fault(self.path, "is damaged", RESTORE)
        return value

    def _integer(self, value: object) -> int:
        if not isinstance(value, int):
            raise fault(self.path, "is damaged", RESTORE)
        return value

    def _units(self, value: object) -> int:
        text = self._text(value)
        if len(text) != DIGITS or not (text.isascii() and text.isdigit()):
            raise fault(self.path, "is damaged", RESTORE)
        return int(text)
