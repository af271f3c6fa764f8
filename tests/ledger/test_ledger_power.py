"""Power failures: what was told stays charged, and no ledger is shorter than its anchor.

A failure leaves of the ledger what its last commit that waited for the disk had, or more, and of
the anchor any part of what was written: the tests put together the shortest ledger and the longest
anchor, and the other way round.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from ledger.ledger_world import TENTH, Place, charge, place_in, terms
from waiting import HANGS_AFTER

from dpsql.errors import ExecutionFailed
from dpsql.ledger.chain import anchor as anchor_file
from dpsql.ledger.chain.anchor import WIDTH, Anchor, Tail
from dpsql.ledger.chain.entry import Charged
from dpsql.ledger.charge import State, StoredAnswer
from dpsql.ledger.storage import sqlite
from dpsql.ledger.storage.sqlite import Database
from dpsql.privacy.accounting.loss import PrivacyLoss


class Disk:
    """What is on disk at least of the ledger, and at most of its anchor, at every moment."""

    def __init__(self, place: Place, patch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.durable: dict[Path, bytes] = {}
        self.moments: list[tuple[dict[Path, bytes], bytes]] = []
        self.anchored = b""
        wrote, sync, append = Database._transaction, Database.sync, Anchor.append

        @contextmanager
        def transaction(own: Database, kind: str) -> Iterator[None]:
            (waits,) = own.run("PRAGMA synchronous")
            changes = own._db.total_changes
            with wrote(own, kind):
                yield
            if waits == (2,) and own._db.total_changes != changes:
                self.durable = self.files()

        def synced(own: Database) -> None:
            committed = self.files()  # what is written meanwhile may not be on disk
            sync(own)
            self.durable = committed

        def appended(own: Anchor, tail: Tail, lines: bytes) -> None:
            append(own, tail, lines)
            self.moments.append((self.durable, place.anchor.read_bytes()))

        def anchored(own: Anchor) -> None:
            written = place.anchor.read_bytes()
            lines(own)
            self.anchored = written

        lines = Anchor.sync
        patch.setattr(Database, "_transaction", transaction)
        patch.setattr(Database, "sync", synced)
        patch.setattr(Anchor, "append", appended)
        patch.setattr(Anchor, "sync", anchored)

    def files(self) -> dict[Path, bytes]:
        found = self.place.state()
        found.pop(self.place.anchor, None)
        return found


@pytest.fixture
def disk(file_place: Place, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(file_place, monkeypatch)


def key(number: int) -> str:
    return f"{number:064x}"


@contextmanager
def slow_disk(patch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Charges come on disk once the event is set, or this is left."""
    written, sync = threading.Event(), Database.sync

    def later(own: Database) -> None:
        written.wait(HANGS_AFTER)
        sync(own)

    with patch.context() as slow:
        slow.setattr(Database, "sync", later)
        try:
            yield written
        finally:
            written.set()


def answered(disk: Disk, numbers: range) -> None:
    with disk.place.open(terms(1000)) as ledger:
        for number in numbers:
            receipt = ledger.charge(charge(number))
            assert receipt.fresh
            loss = PrivacyLoss(charge(0).loss.accounting, TENTH)
            ledger.release(receipt, b"%d" % number, [StoredAnswer(key(number), b"kept", loss)])
            if number % 3 == 2:
                ledger.read_answers([key(number), key(number - 1)], "bob", None, "policy-1")
        ledger.verify()


def after(files: dict[Path, bytes], anchor: bytes, folder: Path) -> Place:
    """A place with those files."""
    there = place_in(folder)
    there.path.parent.mkdir(parents=True)
    there.anchor.parent.mkdir(parents=True)
    for original, content in files.items():
        path = there.path.with_name(original.name)
        path.write_bytes(content)
        path.chmod(0o600)
    there.anchor.write_bytes(anchor)
    there.anchor.chmod(0o600)
    return there


def test_only_what_is_on_disk_is_anchored(disk: Disk, tmp_path: Path) -> None:
    answered(disk, range(3))
    answered(disk, range(3, 7))
    assert len(disk.moments) > 9
    for number, (files, anchor) in enumerate(disk.moments):
        place = after(files, anchor, tmp_path / f"moment {number}")
        with place.open(terms(1000)) as ledger:
            ledger.verify()
            assert len(list(ledger.history())) >= len(anchor) // WIDTH


def test_an_answer_that_isnt_on_disk_is_not_anchored_with_anothers_charge(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disk.place.open(terms(1000)) as ledger, disk.place.open(terms(1000)) as other:
        theirs = other.charge(charge("theirs"))
        other.await_disk(theirs)
        sync = Database.sync

        def early(own: Database) -> None:
            monkeypatch.setattr(Database, "sync", sync)
            sync(own)
            other.release(theirs, b"between the sync of the charge and its line")

        monkeypatch.setattr(Database, "sync", early)
        ledger.await_disk(ledger.charge(charge("ours")))
        place = after(*disk.moments[-1], tmp_path / "failed")
    with place.open(terms(1000)) as ledger:
        ledger.verify()
        assert ledger.balance().spent.amount == 2 * TENTH


def test_after_a_power_failure_a_lost_answer_is_charged_again(disk: Disk, tmp_path: Path) -> None:
    with disk.place.open(terms(1000)) as ledger:
        receipt = ledger.charge(charge(1))
        assert ledger.release(receipt, b"told") == {}
        assert ledger.replay(ledger.charge(charge(1))) == b"told"
        place = after(disk.durable, disk.anchored, tmp_path / "failed")
    with place.open(terms(1000)) as ledger:
        ledger.verify(receipt)
        again = ledger.charge(charge(1))
        assert (again.fresh, again.state) == (False, State.BURNED)
        with pytest.raises(ExecutionFailed):
            ledger.replay(again)
        assert ledger.charge(charge(2)).fresh
        assert ledger.balance().spent.amount == 2 * TENTH


@pytest.mark.parametrize("told", ["answer", "failure"])
def test_a_charge_is_on_disk_in_both_files_before_anything_is_told(disk: Disk, told: str) -> None:
    with disk.place.open(terms(1000)) as ledger:
        for number in range(3):
            receipt = ledger.charge(charge(number))
            assert receipt.hash.encode() in b"".join(disk.files().values())
            if told == "answer":
                ledger.release(receipt, b"answer")
            else:
                ledger.await_disk(receipt)
            assert receipt.hash.encode() in b"".join(disk.durable.values())
            assert receipt.hash.encode() in disk.anchored


def test_a_charge_that_power_failure_undoes_while_the_engine_runs_was_told_to_nobody(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disk.place.open(terms(1000)) as ledger:
        ledger.await_disk(ledger.charge(charge(1)))
        with slow_disk(monkeypatch):
            receipt = ledger.charge(charge(2))
            files, anchor = disk.durable, disk.anchored
            assert receipt.hash.encode() not in b"".join(files.values())
        place = after(files, anchor, tmp_path / "failed")
    with place.open(terms(1000)) as ledger:
        ledger.verify()
        assert ledger.balance().spent.amount == TENTH
        assert ledger.charge(charge(2)).fresh


def test_who_stops_waiting_for_the_disk_waits_for_it_before_that_is_told(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Future[None]) -> None:
        monkeypatch.setattr(Future, "exception", waited)
        raise KeyboardInterrupt

    waited = Future.exception
    with disk.place.open(terms(1000)) as ledger, slow_disk(monkeypatch) as written:
        receipt = ledger.charge(charge(1))
        monkeypatch.setattr(Future, "exception", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.release(receipt, b"answer")
        assert receipt.hash.encode() not in disk.anchored
        threading.Timer(0.05, written.set).start()
        ledger.burn(receipt)
        assert receipt.hash.encode() in disk.anchored


def test_the_shortest_anchor_is_completed(disk: Disk, tmp_path: Path) -> None:
    answered(disk, range(4))
    for cut in (0, 1, WIDTH + 1, 3 * WIDTH):
        anchor = disk.place.anchor.read_bytes()
        place = after(disk.files(), anchor[: len(anchor) - cut], tmp_path / f"cut {cut}")
        with place.open(terms(1000)) as ledger:
            ledger.verify()
            assert sum(isinstance(e.event, Charged) for e in ledger.history()) == 4


@pytest.mark.parametrize("where", [sqlite, anchor_file])
def test_a_file_that_cant_be_synced_gives_no_answer(
    file_place: Place, monkeypatch: pytest.MonkeyPatch, where: ModuleType
) -> None:
    def broken(path: Path) -> None:
        raise OSError(5, f"input/output error of {path}")

    with file_place.open(terms(1000)) as ledger:
        monkeypatch.setattr(where, "sync_file", broken)
        receipt = ledger.charge(charge(1))
        with pytest.raises(Exception, match="its charge stands"):
            ledger.release(receipt, b"answer")
        monkeypatch.undo()
        assert ledger.balance().spent.amount == TENTH
        assert ledger.charge(charge(1)).state is State.CHARGED
