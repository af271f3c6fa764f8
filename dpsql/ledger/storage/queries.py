"""What the ledger's tables are asked and told, in SQL, each question with its type.

A bit that flips in a record's header turns text into bytes or a number into NULL, so nothing that
comes out of the file is taken for what it should be.
"""

from __future__ import annotations

from typing import NamedTuple

from dpsql.ledger.amount import DIGITS, padded
from dpsql.ledger.caps import Spent
from dpsql.ledger.fault import RESTORE, fault
from dpsql.ledger.storage.backend import Backend

# The account of the dataset; analysts' names are never empty.
DATASET = ""


class Row(NamedTuple):
    """An entry as it is stored."""

    seq: int
    hash: str
    body: str


class Request(NamedTuple):
    """Where a request's charge and its end are in the chain, and who runs it."""

    id: str
    charged: int
    settled: int | None
    owner: str


class Store:
    """The questions. What they write is durable when the transaction around them is."""

    def __init__(self, database: Backend) -> None:
        self.path = database.path
        self._run = database.run

    def append(self, row: Row) -> None:
        """One more entry."""
        self._run("INSERT INTO entry VALUES (?, ?, ?)", *row)

    def rows(self, after: int, limit: int) -> list[Row]:
        """Entries that follow entry `after`, in order."""
        query = "SELECT seq, hash, body FROM entry WHERE seq > ? ORDER BY seq LIMIT ?"
        return [self._row(found) for found in self._run(query, after, limit)]

    def last(self) -> int:
        """How many entries there are, by the number of the last."""
        found = self._run("SELECT max(seq) FROM entry")
        return self._integer(found[0][0]) if found[0][0] is not None else 0

    def terms(self) -> int:
        """The entry with the terms in force."""
        return self._integer(self._in_force()[0])

    def summed(self) -> int:
        """The last entry that sums up those before it, 0 if there is none yet."""
        found = self._in_force()[1]
        return 0 if found is None else self._integer(found)

    def begin(self, seq: int) -> None:
        """The first terms are in force, those of entry `seq`."""
        self._run("INSERT INTO in_force VALUES (?, NULL)", seq)

    def set_terms(self, seq: int) -> None:
        """The terms of entry `seq` are in force."""
        self._run("UPDATE in_force SET terms = ?", seq)

    def set_summed(self, seq: int) -> None:
        """Entry `seq` sums up those before it."""
        self._run("UPDATE in_force SET summed = ?", seq)

    def account(self, analyst: str) -> Spent:
        """What the dataset or one analyst has spent."""
        query = "SELECT spent, delta FROM account WHERE analyst = ?"
        for spent, delta in self._run(query, analyst):
            return Spent(self._units(spent), self._units(delta))
        return Spent()

    def accounts(self) -> dict[str, Spent]:
        """Every account."""
        found = self._run("SELECT analyst, spent, delta FROM account")
        return {
            self._text(name): Spent(self._units(spent), self._units(delta))
            for name, spent, delta in found
        }

    def set_account(
        self, analyst: str, total: Spent, backstop: tuple[int | None, int | None]
    ) -> None:
        """The account's new totals, which SQL compares with `backstop` once more."""
        cap, delta_cap = (None if most is None else padded(most) for most in backstop)
        spent, delta = padded(total.spent), padded(total.delta)
        query = (
            "INSERT INTO account VALUES (?, ?, ?, ?, ?) ON CONFLICT (analyst) DO UPDATE SET "
            "spent = excluded.spent, cap = excluded.cap, "
            "delta = excluded.delta, delta_cap = excluded.delta_cap"
        )
        self._run(query, analyst, spent, cap, delta, delta_cap)

    def request(self, request_id: str) -> Request | None:
        """The request of that id."""
        found = self._requests("WHERE id = ?", request_id)
        return found[0] if found else None

    def requests(self) -> list[Request]:
        """Every request."""
        return self._requests("")

    def unsettled(self) -> list[Request]:
        """Requests that are charged and came to no end yet."""
        return self._requests("WHERE settled IS NULL ORDER BY charged")

    def charges(self) -> int:
        """How many requests there were, each charged once."""
        ((found,),) = self._run("SELECT count(*) FROM request")
        return self._integer(found)

    def add_request(self, request_id: str, charged: int, owner: str) -> None:
        """A request whose charge is entry `charged`."""
        self._run("INSERT INTO request VALUES (?, ?, NULL, ?)", request_id, charged, owner)

    def settle(self, request_id: str, seq: int) -> None:
        """Entry `seq` ends the request."""
        self._run("UPDATE request SET settled = ? WHERE id = ?", seq, request_id)

    def add_answer(self, own_hash: str, answer: bytes) -> None:
        """Keeps `answer`; one that is there already is the same, since its hash names it."""
        self._run("INSERT INTO answer VALUES (?, ?) ON CONFLICT DO NOTHING", own_hash, answer)

    def answer(self, own_hash: str) -> bytes | None:
        """The answer of that hash."""
        for (found,) in self._run("SELECT bytes FROM answer WHERE hash = ?", own_hash):
            return found if isinstance(found, bytes) else None
        return None

    def answers(self) -> list[str]:
        """The hash of every answer."""
        return [self._text(found) for (found,) in self._run("SELECT hash FROM answer")]

    def store_answer(self, key: str, released: int) -> None:
        """Entry `released` gives the release of that key, unless an earlier one does."""
        self._run("INSERT INTO kept VALUES (?, ?) ON CONFLICT DO NOTHING", key, released)

    def stored_seq(self, key: str) -> int | None:
        """The entry that gives the release of that key."""
        for (found,) in self._run("SELECT released FROM kept WHERE key = ?", key):
            return self._integer(found)
        return None

    def all_stored(self) -> dict[str, int]:
        """Every kept release, with the entry that gives it."""
        found = self._run("SELECT key, released FROM kept")
        return {self._text(key): self._integer(seq) for key, seq in found}

    def fail(self, key: str, seq: int) -> None:
        """Entry `seq` says that the release of that key came to nothing."""
        self._run("INSERT INTO failed VALUES (?, ?)", key, seq)

    def failed(self, key: str) -> list[int]:
        """The entries that say so."""
        query = "SELECT entry FROM failed WHERE key = ? ORDER BY entry"
        return [self._integer(seq) for (seq,) in self._run(query, key)]

    def all_failed(self) -> set[tuple[str, int]]:
        """Every failure: which release, and the entry that says so."""
        found = self._run("SELECT key, entry FROM failed")
        return {(self._text(key), self._integer(seq)) for key, seq in found}

    def mark_paid(self, key: str, analyst: str, seq: int) -> None:
        """By entry `seq` the analyst has seen the release."""
        self._run("INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key, analyst, seq)

    def paid_seq(self, key: str, analyst: str) -> int | None:
        """The entry by which the analyst has seen the release."""
        query = "SELECT entry FROM seen WHERE key = ? AND analyst = ?"
        for (found,) in self._run(query, key, analyst):
            return self._integer(found)
        return None

    def all_paid(self) -> dict[tuple[str, str], int]:
        """Who has seen what, with the entry that says so."""
        found = self._run("SELECT key, analyst, entry FROM seen")
        return {(self._text(k), self._text(a)): self._integer(seq) for k, a, seq in found}

    def name(self, names: tuple[str, str], seq: int, metadata: str, rows: bytes) -> None:
        """Analyst and name: by entry `seq` they mean these rows."""
        self._run(
            "INSERT INTO named VALUES (?, ?, ?, ?, ?) ON CONFLICT (analyst, name) DO UPDATE SET "
            "entry = excluded.entry, about = excluded.about, bytes = excluded.bytes",
            *names,
            seq,
            metadata,
            rows,
        )

    def unname(self, names: tuple[str, str]) -> None:
        """Analyst and name mean nothing any more; their rows are gone."""
        self._run("DELETE FROM named WHERE analyst = ? AND name = ?", *names)

    def all_named(self) -> dict[tuple[str, str], int]:
        """Every analyst's names, with the entry that gives each its meaning."""
        found = self._run("SELECT analyst, name, entry FROM named")
        return {(self._text(a), self._text(n)): self._integer(seq) for a, n, seq in found}

    def metadata(self, names: tuple[str, str]) -> str | None:
        """What is said of a named table."""
        query = "SELECT about FROM named WHERE analyst = ? AND name = ?"
        for (found,) in self._run(query, *names):
            return self._text(found)
        return None

    def named_rows(self, names: tuple[str, str]) -> bytes | None:
        """What a named table holds."""
        query = "SELECT bytes FROM named WHERE analyst = ? AND name = ?"
        for (found,) in self._run(query, *names):
            return found if isinstance(found, bytes) else None
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
        """Every refusal kept, with how often and when last."""
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
        found = self._run("SELECT terms, summed FROM in_force")
        if len(found) != 1:
            raise fault(self.path, "has no terms in force", RESTORE)
        return found[0]

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
        return Row(self._integer(seq), self._text(own_hash), self._text(body))

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
