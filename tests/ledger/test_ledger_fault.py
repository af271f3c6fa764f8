"""Missing, replaced, rolled back and foreign ledgers: a fault names the file and what to do."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledger.ledger_world import TENTH, Place, charge, place_in, run

from dpsql.errors import LedgerFault
from dpsql.ledger.chain.anchor import WIDTH, Anchor, Tail
from dpsql.ledger.ledger import Ledger


def fill(place: Place, count: int = 3) -> None:
    with place.open() as ledger:
        for number in range(count):
            ledger.release(ledger.charge(charge(f"filled {number}")), b"answer")


def refused(place: Place, what: str) -> None:
    with pytest.raises(LedgerFault, match=what) as refusal:
        place.open().close()
    assert refusal.value.sqlstate == "58030"
    assert str(place.path.parent.parent) in refusal.value.message
    assert refusal.value.hint


def test_a_missing_ledger_beside_its_anchor_is_not_made_anew(place: Place) -> None:
    fill(place)
    place.path.unlink()
    refused(place, r"ledger\.db is missing, though its anchor")
    assert not place.path.exists()


def test_an_emptied_ledger_beside_its_anchor_is_not_made_anew(place: Place) -> None:
    fill(place)
    place.path.write_bytes(b"")
    refused(place, "is empty, though its anchor")


def test_a_missing_anchor_is_not_made_anew(place: Place) -> None:
    fill(place)
    place.anchor.unlink()
    refused(place, r"ledger\.anchor is missing or empty beside")
    assert not place.anchor.exists()


def test_an_emptied_anchor_is_a_fault(place: Place) -> None:
    fill(place)
    place.anchor.write_bytes(b"")
    refused(place, "is missing or empty beside")


def test_a_server_creates_no_ledger(place: Place) -> None:
    with pytest.raises(LedgerFault, match="doesn't exist"):
        place.open(create=False)
    with pytest.raises(LedgerFault, match="doesn't exist"):
        Ledger.as_recorded(place.path, place.anchor)
    assert not place.path.exists()


def test_an_older_copy_is_a_rollback(place: Place) -> None:
    fill(place)
    old = place.path.read_bytes()
    with place.open() as ledger:
        ledger.charge(charge("later"))
    place.path.write_bytes(old)
    refused(place, r"was rolled back: it ends at entry 7, its anchor at 9")


def test_an_older_copy_that_went_on_is_a_rollback(place: Place) -> None:
    fill(place)
    old = place.state()
    fill_more(place, "one", 3)
    anchor = place.anchor.read_bytes()
    place.restore(old)
    fill_more(place, "another", 5)
    place.anchor.write_bytes(anchor)
    refused(place, "has another entry 8 than its anchor")


def fill_more(place: Place, name: str, count: int) -> None:
    with place.open() as ledger:
        for number in range(count):
            ledger.charge(charge(f"{name} {number}"))


def test_older_copies_of_both_files_are_shown_by_a_receipt(place: Place) -> None:
    fill(place)
    old = place.state()
    with place.open() as ledger:
        receipt = ledger.charge(charge("later"))
    place.restore(old)
    with place.open() as ledger:
        with pytest.raises(LedgerFault, match="doesn't hold the receipt of entry 8"):
            ledger.verify(receipt)
        ledger.charge(charge("other history"))
        with pytest.raises(LedgerFault, match="doesn't hold the receipt of entry 8"):
            ledger.verify(receipt)


def test_a_ledger_replaced_while_it_is_open_is_a_fault(place: Place) -> None:
    with place.open() as ledger:
        copy = place.path.with_name("copy")
        copy.write_bytes(place.path.read_bytes())
        place.path.rename(place.path.with_name("taken away"))
        copy.rename(place.path)
        with pytest.raises(LedgerFault, match="was replaced while it was open"):
            ledger.charge(charge(1))
        place.path.with_name("taken away").replace(place.path)


def test_an_anchor_cut_while_the_ledger_is_open_is_a_fault(place: Place) -> None:
    fill(place)
    with place.open() as ledger:
        whole = place.anchor.read_bytes()
        place.anchor.write_bytes(whole[: 2 * WIDTH])
        with pytest.raises(LedgerFault, match="lost lines while the ledger was open"):
            ledger.charge(charge(1))
        place.anchor.write_bytes(whole)


def test_an_anchor_cut_while_a_statement_runs_is_a_fault_of_the_next_charge(place: Place) -> None:
    fill(place)
    with place.open() as ledger:
        receipt = ledger.charge(charge(1))
        ledger.await_disk(receipt)
        whole = place.anchor.read_bytes()
        place.anchor.write_bytes(whole[: 2 * WIDTH])
        ledger.release(receipt, b"answer")
        assert ledger.replay(receipt) == b"answer"
        with pytest.raises(LedgerFault, match="lost lines while the ledger was open"):
            ledger.charge(charge(2))
        place.anchor.write_bytes(whole)
        ledger.charge(charge(2))
        assert ledger.verify(receipt).answers == 0


def test_an_anchor_removed_before_lines_are_appended_is_not_made_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was made anew would have the last lines alone, and no ledger rolled back shows."""
    fill(place)
    taken, append = place.anchor.with_name("taken away"), Anchor.append

    def removed_first(anchor: Anchor, tail: Tail, lines: bytes) -> None:
        anchor.path.rename(taken)
        append(anchor, tail, lines)

    with place.open() as ledger:
        monkeypatch.setattr(Anchor, "append", removed_first)
        receipt = ledger.charge(charge(1))
        with pytest.raises(LedgerFault, match="can't be used"):
            ledger.release(receipt, b"answer")
        assert not place.anchor.exists()
        monkeypatch.undo()
        taken.rename(place.anchor)
        assert ledger.charge(charge(2)).fresh


def test_two_ledgers_have_no_anchor_in_common(place: Place, tmp_path: Path) -> None:
    fill(place)
    second = place_in(tmp_path, "second")
    refused(Place(second.path, place.anchor), "second.db is missing, though its anchor")
    fill(second)
    refused(Place(second.path, place.anchor), "has another entry 1 than its anchor")


def test_a_ledger_is_not_its_own_anchor(place: Place) -> None:
    refused(Place(place.path, place.path), "is named as its own anchor")


def leave_a_log(place: Place) -> None:
    ledger = place.open()
    ledger.await_disk(ledger.charge(charge("in the log")))
    os.kill(os.getpid(), signal.SIGKILL)


def log_of(place: Place) -> Path:
    return place.path.with_name(place.path.name + "-wal")


def test_a_deleted_log_is_a_rollback(place: Place) -> None:
    fill(place)
    assert run(leave_a_log, place) == -signal.SIGKILL
    log_of(place).unlink()
    refused(place, "was rolled back: it ends at entry 7, its anchor at 8")


def test_a_truncated_log_is_a_rollback(place: Place) -> None:
    fill(place)
    assert run(leave_a_log, place) == -signal.SIGKILL
    os.truncate(log_of(place), log_of(place).stat().st_size - 4096)
    refused(place, "was rolled back")


def test_the_log_of_another_ledger_is_a_fault(place: Place, tmp_path: Path) -> None:
    other = place_in(tmp_path, "other")
    for each in (place, other):
        fill(each)
        assert run(leave_a_log, each) == -signal.SIGKILL
    log_of(place).write_bytes(log_of(other).read_bytes())
    with pytest.raises(LedgerFault):
        place.open()


def test_a_log_without_its_ledger_is_no_new_budget(place: Place) -> None:
    fill(place)
    assert run(leave_a_log, place) == -signal.SIGKILL
    place.path.unlink()
    place.anchor.unlink()
    refused(place, r"is missing, though its log \(-wal\) exists")
    assert not place.path.exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"no database", "is no SQLite database"), (bytes(8192), "is no SQLite database")],
)
def test_another_file_is_a_fault(place: Place, content: bytes, what: str) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(content)
    place.path.chmod(0o600)
    refused(place, what)
    assert place.path.read_bytes() == content


def test_another_database_is_a_fault(place: Place) -> None:
    place.path.parent.mkdir()
    with closing(sqlite3.connect(place.path)) as database:
        database.execute("CREATE TABLE entry (seq INTEGER)")
    place.path.chmod(0o600)
    before = place.path.read_bytes()
    refused(place, "is no ledger of dpsql")
    assert place.path.read_bytes() == before


def test_a_newer_format_is_a_fault(place: Place) -> None:
    fill(place)
    with closing(sqlite3.connect(place.path)) as database:
        database.execute("PRAGMA user_version = 4")
    refused(place, "has another format than 3")


def spend_all(ledger: Ledger) -> None:
    for number in range(100):
        ledger.charge(charge(number, query="x" * 2000))


def test_a_full_disk_refuses_the_charge(place: Place) -> None:
    with place.open() as ledger:
        database = ledger._chain.database
        pages = database.run("PRAGMA page_count")[0][0]
        database.run(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerFault, match="disk is full"):
            spend_all(ledger)
        database.run("PRAGMA max_page_count = 1000000")
        charged = len(list(ledger.history())) - 1
        assert ledger.balance().spent.amount == charged * TENTH
        ledger.verify()


def test_a_held_lock_is_a_fault_and_not_a_grant(place: Place) -> None:
    with place.open() as ledger:
        ledger._chain.database.run("PRAGMA busy_timeout = 50")
        with closing(sqlite3.connect(place.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerFault, match="is locked by another process"):
                ledger.charge(charge(1))
            other.execute("ROLLBACK")
        assert ledger.charge(charge(1)).fresh


def test_an_anchor_that_cant_be_written_gives_no_receipt(place: Place) -> None:
    ledger = place.open()
    place.anchor.rename(place.anchor.with_name("kept"))
    place.anchor.mkdir()
    with pytest.raises(LedgerFault, match="can't be used"):
        ledger.charge(charge(1))
    place.anchor.rmdir()
    place.anchor.with_name("kept").rename(place.anchor)
    assert ledger.charge(charge(1)).fresh
    ledger.close()
