"""`Ledger`: all that a session may do with a budget, each call one transaction.

    with Ledger.open(path, anchor, terms) as ledger:
        receipt = ledger.charge(charge)             # committed, or refused
        if receipt.fresh:
            ledger.release(receipt, answer)         # recorded before the answer is sent
        else:
            answer = ledger.replay(receipt)         # the same bytes as the first time

A ledger is used from any thread of the process that opened it; other processes open their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Self

from dpsql.ledger import charge_log, stored_answer
from dpsql.ledger.caps import Balance, balances
from dpsql.ledger.chain.checkpoint import write_checkpoint
from dpsql.ledger.chain.entry import Amended, Entry, Released
from dpsql.ledger.chain.hash_chain import BATCH, Chain, Clock, utc_now
from dpsql.ledger.chain.verify import Report, audit
from dpsql.ledger.charge import (
    Charge,
    Failure,
    Receipt,
    ReceiptId,
    StoredAnswer,
    StoredAnswerInfo,
    check_analyst_cap,
    check_keys,
    check_stored_answers,
)
from dpsql.ledger.charge_group import STANDS, telling_answer, telling_charge
from dpsql.ledger.fault import standing
from dpsql.ledger.open_charges import OpenCharges
from dpsql.ledger.refusal import Refusal, note, refusals
from dpsql.ledger.saved_release import SavedReleaseStore
from dpsql.ledger.storage.backend import Location, ProcessLock
from dpsql.ledger.storage.backup import back_up
from dpsql.ledger.storage.disk_reservation import MIN_BYTES
from dpsql.ledger.storage.exclusive_use import ExclusiveUse
from dpsql.ledger.storage.opening import (
    apply_terms,
    check_fixed,
    open_chain,
    recorded_terms,
    terms_on_disk,
)
from dpsql.ledger.storage.queries import DATASET
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.ledger.terms import LedgerTerms, check_name, check_terms


class Ledger:
    """One dataset's ledger. Open it with `open`, or as its owner with `as_recorded`."""

    def __init__(self, chain: Chain, owner: ProcessLock) -> None:
        self._chain, self._store = chain, chain.store
        self._owner, self._use = owner, ExclusiveUse()
        self._charges = OpenCharges(chain, owner.name, self._use)

    @classmethod
    def open(
        cls,
        path: Location,
        anchor: Path,
        terms: LedgerTerms,
        *,
        create: bool = True,
        clock: Clock = utc_now,
    ) -> Self:
        """The checked ledger under `terms`; created if neither file exists and `create` allows it.

        Terms stricter than the recorded ones are recorded; looser ones raise LedgerFault.
        """
        check_terms(terms)
        return cls(*open_chain(path, anchor, terms, create=create, clock=clock))

    @classmethod
    def as_recorded(cls, path: Location, anchor: Path, *, clock: Clock = utc_now) -> Self:
        """The checked ledger under its own terms: for its owner, who amends or audits it."""
        return cls(*open_chain(path, anchor, None, create=False, clock=clock))

    @property
    def lost(self) -> bool:
        """Whether the server has ended the connection: then the ledger must be opened again."""
        return self._chain.database.lost

    @property
    def terms(self) -> LedgerTerms:
        """The terms in force."""
        with self._reading():
            return recorded_terms(self._chain)

    @property
    def terms_on_disk(self) -> LedgerTerms:
        """The terms in force, read anew; LedgerFault if the file has been damaged since."""
        with self._use:
            return terms_on_disk(self._chain)

    def amend(self, terms: LedgerTerms, reason: str) -> None:
        """Puts the owner's new `terms` in force, looser or stricter; the chain records `reason`."""
        check_terms(terms)
        check_name(reason, "reason")
        with self._writing():
            check_fixed(self._chain, recorded_terms(self._chain), terms)
            apply_terms(self._chain, terms, self._chain.append(Amended(terms, reason)).seq)
        self.await_releases()

    def charge(self, charge: Charge, room: int = MIN_BYTES) -> Receipt:
        """Charges the dataset and the analyst; or BudgetSpent, and nothing is charged.

        It is committed, and outlives the process; `release` and `burn` wait until it is on disk.
        A request id that was charged before isn't charged again: the receipt then isn't fresh.
        `room` bytes of disk are reserved for the answer first; LedgerFull if there aren't so many.
        """
        return self._charges.enter(charge, room)

    def receipt(self, request_id: str) -> Receipt | None:
        """The receipt, not fresh, of the request of that id; None if there was none."""
        with self._reading():
            return charge_log.receipt(self._chain, request_id)

    def await_disk(self, receipt: Receipt) -> None:
        """Waits until the charge is on disk, in both files: before anything of it is told."""
        self._charges.await_disk(receipt)

    def release(
        self, receipt: Receipt, answer: bytes, keep: Sequence[StoredAnswer] = ()
    ) -> Mapping[str, bytes]:
        """Records `answer` as the request's, before it is sent; `keep` may answer others, too.

        Where some keys have other answers by now, records nothing and returns these: use them.
        On disk it is with the next charge: if the power fails, who asks again may pay again.
        """
        whole, releases = stored_answer.digested(answer, keep)
        self._charges.settle(receipt)
        with telling_answer(self._chain), self._writing(waits=False):
            charged = charge_log.in_progress(self._chain, receipt)
            check_stored_answers(keep, charged.loss)
            others = stored_answer.existing_answers(self._chain, releases)
            if not others:
                entry = self._chain.append(Released(receipt.request_id, whole, releases))
                self._store.settle(receipt.request_id, entry.seq)
                parts = {r.answer: k.answer for r, k in zip(releases, keep, strict=True)}
                self._store.add_answers({whole: answer, **parts})
                stored_answer.store(self._chain, releases, charged.analyst, entry.seq)
        return others

    def await_releases(self) -> None:
        """Waits until all that was recorded is on disk and in the anchor, as with a charge."""
        with self._use:
            self._chain.publish_all()

    def burn(self, receipt: Receipt, failure: Failure | None = None) -> None:
        """Settles the request without an answer; its charge stands, and `failure` is recorded."""
        self._charges.settle(receipt)
        with standing(STANDS), self._writing():
            charge_log.in_progress(self._chain, receipt)
            charge_log.burn(self._chain, receipt.request_id, failure)

    def failed(self, keys: Sequence[str]) -> bool:
        """Whether one of the releases `keys` failed before, and would be charged for nothing."""
        with self._reading():
            return charge_log.failed_before(self._chain, keys)

    def replay(self, receipt: Receipt) -> bytes:
        """The recorded answer; ExecutionFailed if there is none, OperationalError if not yet."""
        with self._reading():
            return charge_log.replay(self._chain, receipt)

    def stored_answers(self, keys: Sequence[str]) -> dict[str, StoredAnswerInfo]:
        """The releases that are stored under `keys`, by their keys, without their answers."""
        check_keys(keys)
        with self._reading():
            return stored_answer.find(self._chain, keys)

    def look_up(self, keys: Sequence[str]) -> tuple[dict[str, StoredAnswerInfo], bool]:
        """The same, and whether there is a saved release: one transaction takes less than two."""
        check_keys(keys)
        with self._reading():
            return stored_answer.find(self._chain, keys), bool(self._store.all_named())

    def has_paid(self, key: str, analyst: str) -> bool:
        """Whether the analyst has seen the release `key`: paid for it, or read it since."""
        check_keys([key])
        with self._reading():
            return not stored_answer.unpaid(self._chain, [key], analyst)

    def read_answers(
        self, keys: Sequence[str], analyst: str, analyst_cap: Fraction | None, policy_hash: str
    ) -> tuple[bytes, ...]:
        """The stored answers of `keys`, the same bytes for everybody, free for the dataset.

        Those that this analyst sees for the first time are charged to their cap, all or none.
        """
        check_name(analyst, "analyst")
        check_name(policy_hash, "policy hash")
        check_analyst_cap(analyst_cap)
        check_keys(keys)
        with self._reading():
            if not stored_answer.unpaid(self._chain, keys, analyst):
                return stored_answer.read(self._chain, keys)
        with telling_charge(self._chain), self._writing():
            answers = stored_answer.read(self._chain, keys)
            last = 0  # where nothing is written, others' answers may not be on disk yet
            if unseen := stored_answer.unpaid(self._chain, keys, analyst):
                stored_answer.charge_reader(self._chain, unseen, analyst, analyst_cap, policy_hash)
                last = write_checkpoint(self._chain)
        with standing("its charge to the analyst stands"):
            self._chain.publish(last, self._use)
        return answers

    def balance(self, analyst: str | None = None, analyst_cap: Fraction | None = None) -> Balance:
        """The dataset's balance (`analyst` is None), or that of one analyst under their cap."""
        of_all, of_one = self.balances(DATASET if analyst is None else analyst, analyst_cap)
        return of_all if analyst is None else of_one

    def balances(self, analyst: str, analyst_cap: Fraction | None) -> tuple[Balance, Balance]:
        """The dataset's balance and that of the analyst under their cap, of one moment."""
        check_analyst_cap(analyst_cap)
        with self._reading():
            cap = recorded_terms(self._chain).cap
            of_all, of_one = map(self._store.account, (DATASET, analyst))
        return balances(of_all, cap, of_one, analyst_cap)

    @property
    def names(self) -> SavedReleaseStore:
        """The saved releases: tables that analysts keep under names of their own."""
        return SavedReleaseStore(self._chain, self._reading, self._writing)

    def refuse(self, analyst: str, sqlstate: str, query: str, message: str) -> None:
        """Records a refusal that was decided before private rows were read; it costs nothing."""
        check_name(analyst, "analyst")
        with self._writing():
            note(self._chain, analyst, sqlstate, query, message)

    def refusals(self) -> tuple[Refusal, ...]:
        """The recorded refusals, the latest last; of very many, only the latest are recorded."""
        with self._reading():
            return refusals(self._chain)

    def history(self) -> Iterator[Entry]:
        """Every entry in order, each checked against the one before it."""
        seq = 0
        while True:
            with self._reading():
                last = min(self._store.last(), seq + BATCH)
                batch = [self._chain.entry(number) for number in range(seq + 1, last + 1)]
            if not batch:
                return
            yield from batch
            seq = last

    def verify(self, *receipts: Receipt | ReceiptId) -> Report:
        """Audits both files and that they hold `receipts`; LedgerFault says what disagrees."""
        self.await_releases()
        with self._use:
            return audit(self._chain, receipts)

    def backup(self, target: Path) -> None:
        """Copies the ledger as it is now to the new file `target`; both have the same anchor."""
        self.await_releases()
        with self._use:
            back_up(self._chain, target.absolute())

    def close(self) -> None:
        """Burns the requests that this opening still runs, and closes the files."""
        with self._use.ending() as closes, ExitStack() as stack:
            if not closes:
                return
            stack.callback(self._owner.close)
            self._charges.give_room()
            stack.callback(self._chain.database.close)
            charge_log.burn_all_of(self._chain, self._owner.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self, *, waits: bool = True) -> Iterator[None]:
        check_may_wait()
        with self._use, self._chain.writing(waits=waits):
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._use, self._chain.database.reading():
            yield
