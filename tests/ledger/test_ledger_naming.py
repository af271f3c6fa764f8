"""Named tables in the ledger: whose they are, and that nobody changes them unseen."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledger.ledger_world import PURE, TENTH, Place, charge, run

from dpsql.errors import LedgerFault, NameTaken, NotOwner, QuotaSpent, UnknownRelease
from dpsql.ledger.charge import StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.saved_release import ReleaseName
from dpsql.ledger.storage.queries import Store
from dpsql.privacy.accounting.loss import PrivacyLoss

KEY = "a" * 64
MOST = 3
MINE = ReleaseName("alice", "t", shared=True, max_releases=MOST)


def paid(ledger: Ledger, analyst: str = "alice") -> None:
    receipt = ledger.charge(charge("1", analyst=analyst))
    ledger.release(receipt, b"answer", [StoredAnswer(KEY, b"noisy", PrivacyLoss(PURE, TENTH))])


def test_a_name_means_its_rows_until_it_is_dropped(place: Place) -> None:
    with place.open() as ledger:
        paid(ledger)
        ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)
        ledger.verify()
    with place.open() as ledger:
        (found,) = ledger.names.all()
        assert (found.name, found.analyst, found.metadata, found.keys) == (
            "t",
            "alice",
            "about",
            (KEY,),
        )
        assert ledger.names.rows(found) == b"rows"
        ledger.names.keep(MINE, "again", b"others", [], replace=True)
        with pytest.raises(UnknownRelease):
            ledger.names.rows(found)
        assert [ledger.names.rows(one) for one in ledger.names.all()] == [b"others"]
        ledger.names.drop(MINE)
        assert ledger.names.all() == ()
        ledger.verify()
        assert ledger.balance().spent.amount == TENTH


def test_a_look_at_answers_tells_whether_anything_is_saved(place: Place) -> None:
    with place.open() as ledger:
        paid(ledger)
        stored, are_saved = ledger.look_up([KEY, "b" * 64])
        assert (set(stored), are_saved) == ({KEY}, False)
        ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)
        assert ledger.look_up([KEY])[1]
        ledger.names.drop(MINE)
        assert not ledger.look_up([KEY])[1]


def test_who_may_do_what(place: Place) -> None:
    theirs = ReleaseName("bob", "t", shared=True, max_releases=MOST)
    with place.open() as ledger:
        ledger.names.keep(MINE, "about", b"rows", [], replace=False)
        with pytest.raises(NameTaken):
            ledger.names.keep(MINE, "about", b"rows", [], replace=False)
        with pytest.raises(NameTaken):
            ledger.names.keep(theirs, "about", b"rows", [], replace=False)
        with pytest.raises(NotOwner):
            ledger.names.keep(theirs, "about", b"rows", [], replace=True)
        with pytest.raises(NotOwner):
            ledger.names.drop(theirs)
        unshared = ReleaseName("bob", "t", shared=False, max_releases=MOST)
        with pytest.raises(UnknownRelease):
            ledger.names.drop(unshared)
        ledger.names.keep(unshared, "about", b"rows", [], replace=False)
        ledger.verify()


def test_a_table_is_made_of_what_its_maker_has_seen(place: Place) -> None:
    with place.open() as ledger:
        paid(ledger, "bob")
        with pytest.raises(NotOwner):
            ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)
        ledger.read_answers([KEY], "alice", None, "p")
        ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)


def test_the_quota_is_each_analysts_own(place: Place) -> None:
    with place.open() as ledger:
        for number in range(MOST):
            ledger.names.keep(
                ReleaseName("alice", f"t{number}", True, MOST), "about", b"", [], replace=False
            )
        with pytest.raises(QuotaSpent):
            ledger.names.keep(
                ReleaseName("alice", "more", True, MOST), "about", b"", [], replace=False
            )
        ledger.names.keep(ReleaseName("bob", "more", True, MOST), "about", b"", [], replace=False)
        ledger.names.drop(ReleaseName("alice", "t0", True, MOST))
        ledger.names.keep(ReleaseName("alice", "new", True, MOST), "about", b"", [], replace=False)
        ledger.verify()


def kill_at(place: Place, owner: type, name: str) -> None:
    done = getattr(owner, name)

    def die(*given: object) -> None:
        done(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    with place.open() as ledger:
        paid(ledger)
        setattr(owner, name, die)
        ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)


@pytest.mark.parametrize("where", ["append", "name"])
def test_killed_on_the_way_there_is_no_name_and_the_answer_is_stored(
    place: Place, where: str
) -> None:
    assert run(kill_at, place, Store, where) == -signal.SIGKILL
    with place.open() as ledger:
        assert ledger.names.all() == ()
        assert ledger.stored_answers([KEY])
        assert ledger.balance().spent.amount == TENTH
        ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)
        ledger.verify()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE named SET bytes = X'00'",
        "UPDATE named SET about = 'other'",
        "UPDATE named SET entry = 1",
        "UPDATE named SET analyst = 'bob'",
        "DELETE FROM named",
        "INSERT INTO named VALUES ('bob', 't', 2, 'about', X'00')",
    ],
)
def test_rows_that_were_changed_are_found(file_place: Place, change: str) -> None:
    with file_place.open() as ledger:
        ledger.names.keep(MINE, "about", b"rows", [], replace=False)
    with closing(sqlite3.connect(file_place.path)) as database:
        database.execute(change)
        database.commit()
    with file_place.open() as ledger, pytest.raises(LedgerFault):
        ledger.verify()


@pytest.mark.parametrize(("older", "lacks"), [(1, ["named", "failed"]), (2, ["failed"])])
def test_a_ledger_of_an_older_format_is_taken_on(
    file_place: Place, older: int, lacks: list[str]
) -> None:
    with file_place.open() as ledger:
        paid(ledger)
    with closing(sqlite3.connect(file_place.path)) as database:
        for table in lacks:
            database.execute(f"DROP TABLE {table}")
        database.execute(f"PRAGMA user_version = {older}")
        database.commit()
    with file_place.open() as ledger:
        assert ledger.read_answers([KEY], "alice", None, "p") == (b"noisy",)
        ledger.names.keep(MINE, "about", b"rows", [KEY], replace=False)
        ledger.verify()


def test_a_backup_has_them(file_place: Place, tmp_path: Path) -> None:
    with file_place.open() as ledger:
        ledger.names.keep(MINE, "about", b"rows", [], replace=False)
        ledger.verify()
        ledger.backup(tmp_path / "copy.db")
    file_place.path.unlink()
    (tmp_path / "copy.db").rename(file_place.path)
    with file_place.open() as ledger:
        assert [ledger.names.rows(one) for one in ledger.names.all()] == [b"rows"]
