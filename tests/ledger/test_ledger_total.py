"""Sums in the chain: openings start from the last one, and none can be forged."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from ledger.ledger_world import TENTH, Place, charge, run, terms

from dpsql.errors import InternalError, LedgerFault
from dpsql.ledger.amount import padded
from dpsql.ledger.chain import checkpoint
from dpsql.ledger.chain.anchor import Anchor
from dpsql.ledger.chain.entry import Burned, Checkpointed, encode, link
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.queries import Row

APPEND_ONLY = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 10)


def fill(place: Place, count: int = 25) -> None:
    with place.open(terms(100)) as ledger:
        for number in range(count):
            ledger.release(ledger.charge(charge(number, analyst=f"analyst {number % 3}")), b"")


def sums(ledger: Ledger) -> list[int]:
    return [entry.seq for entry in ledger.history() if isinstance(entry.event, Checkpointed)]


def test_sums_follow_each_other_at_even_distances(place: Place) -> None:
    fill(place)
    with place.open(terms(100)) as ledger:
        ledger.verify()
        found = sums(ledger)
        # The charge that fills the tenth place is summed at once, after it.
        assert all(10 <= later - earlier <= 12 for earlier, later in pairwise([0, *found]))
        assert len(found) == 5


def test_an_opening_reads_no_entry_before_the_last_sum(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(place, 40)
    with place.open(terms(100)) as ledger:
        last = sums(ledger)[-1]
        asked: list[int] = []
        rows = ledger._chain.store.rows

        def counted(after: int, limit: int) -> list[Row]:
            asked.append(after)
            return rows(after, limit)

        monkeypatch.setattr(ledger._chain.store, "rows", counted)
        checkpoint.check_checkpoint(ledger._chain)
        # One look at the terms in force, the first entry; all others from the sum on.
        assert min(after for after in asked if after > 1) >= last - 2


@pytest.mark.parametrize("count", [5, 40])
def test_a_charge_while_another_opens_is_no_rollback(place: Place, count: int) -> None:
    """The opening's snapshot is older than the anchor's last lines."""
    fill(place, count)
    with place.open(terms(100)) as other, place.open(terms(100)) as ledger:

        class Overtaken(Anchor):
            def content(self, after: int = 0) -> bytes:
                other.release(other.charge(charge("late")), b"")
                return super().content(after)

        ledger._chain.anchor = Overtaken(ledger._chain.anchor.path)
        checkpoint.check_checkpoint(ledger._chain)
        ledger._chain.anchor = Anchor(ledger._chain.anchor.path)
        ledger.verify()


def test_balances_after_many_sums_are_what_was_charged(place: Place) -> None:
    fill(place, 40)
    with place.open(terms(100)) as ledger:
        assert ledger.balance().spent.amount == 40 * TENTH
        assert ledger.balance("analyst 1").spent.amount == 13 * TENTH


def forge(place: Place, *statements: str) -> None:
    with closing(sqlite3.connect(place.path)) as database:
        database.execute("DROP TRIGGER entry_update")
        for statement in statements:
            database.execute(statement)
        trigger = f"CREATE TRIGGER entry_update BEFORE UPDATE ON entry {APPEND_ONLY}"
        database.execute(trigger)
        database.commit()


def last_sum(place: Place) -> Checkpointed:
    with closing(sqlite3.connect(place.path)) as database:
        ((seq,),) = database.execute("SELECT summed FROM in_force")
    with Ledger.as_recorded(place.path, place.anchor) as ledger:
        event = ledger._chain.entry(seq).event
    assert isinstance(event, Checkpointed)
    return event


def refused(place: Place, what: str) -> None:
    with pytest.raises(LedgerFault, match=what):
        place.open(terms(100))


def test_an_account_lowered_behind_the_last_sum_is_a_fault(place: Place) -> None:
    fill(place)
    forge(place, f"UPDATE account SET spent = '{padded(0)}'")
    refused(place, "has balances that its entries don't add up to")


def test_a_sum_that_was_changed_is_a_fault(place: Place) -> None:
    fill(place)
    spent = last_sum(place).accounts[""][0]
    where = "WHERE seq = (SELECT summed FROM in_force)"
    forge(place, f"UPDATE entry SET body = replace(body, '{spent}', '{padded(0)}') {where}")
    refused(place, "is damaged at entry")


def test_an_older_sum_is_as_good_as_the_last(place: Place) -> None:
    fill(place)
    before = last_sum(place).before
    forge(place, f"UPDATE in_force SET summed = {before}")
    with place.open(terms(100)) as ledger:
        assert ledger.balance().spent.amount == 25 * TENTH


@pytest.mark.parametrize("none", ["NULL", "1"])
def test_a_forgotten_sum_is_no_larger_budget(place: Place, none: str) -> None:
    fill(place)
    forge(place, f"UPDATE in_force SET summed = {none}")
    if none == "NULL":
        with place.open(terms(100)) as ledger:
            assert ledger.balance().spent.amount == 25 * TENTH
    else:
        refused(place, "has no sum in entry 1")


def append_forged_sum(place: Place, *, before: int) -> int:
    """A sum of next to nothing behind the last entry, its hash in order, its table too."""
    with closing(sqlite3.connect(place.path)) as database:
        ((seq, head),) = database.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1")
        nothing = {"": (padded(0), padded(0))}
        with Ledger.as_recorded(place.path, place.anchor) as ledger:
            at = ledger._chain.entry(seq).at
        body = encode(seq + 1, at, Checkpointed(nothing, 1, before))
        database.execute("INSERT INTO entry VALUES (?, ?, ?)", (seq + 1, link(head, body), body))
        database.execute("UPDATE in_force SET summed = ?", (seq + 1,))
        database.execute("DELETE FROM account WHERE analyst <> ''")
        database.execute("UPDATE account SET spent = ?", (padded(0),))
        database.commit()
    return int(seq) + 1


@pytest.mark.parametrize("before", [0, "the last"])
def test_a_sum_that_the_anchor_lacks_is_not_believed(place: Place, before: object) -> None:
    fill(place)
    with closing(sqlite3.connect(place.path)) as database:
        ((last,),) = database.execute("SELECT summed FROM in_force")
    seq = append_forged_sum(place, before=last if before else 0)
    refused(place, f"has an impossible entry {seq}")


def test_a_sum_in_a_chain_without_its_anchor_is_not_believed(place: Place) -> None:
    fill(place)
    place.anchor.write_bytes(place.anchor.read_bytes()[:-78] + b"0" * 77 + b"\n")
    refused(place, "last line is no line of an anchor")


def charge_and_die_before_the_anchor(place: Place) -> None:
    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    checkpoint.EVERY = 10
    with place.open(terms(100)) as ledger:
        number, summed, last = 0, 0, 1
        while last - summed < checkpoint.EVERY - 1:
            ledger.charge(charge(f"more {number}"))
            number += 1
            summed, last = ledger._store.summed_and_last()
        pytest.MonkeyPatch().setattr(Anchor, "append", die)
        ledger.charge(charge("summed"))


def test_a_sum_that_a_crash_kept_from_the_anchor_is_mended(place: Place) -> None:
    fill(place)
    assert run(charge_and_die_before_the_anchor, place) == -signal.SIGKILL
    with place.open(terms(100)) as ledger:
        ledger.verify()
        charged = ledger.balance().spent.amount
    with place.open(terms(100)) as ledger:
        assert ledger.balance().spent.amount == charged


def test_what_no_entry_can_hold_is_told_by_its_type_alone() -> None:
    event = Burned("r", abandoned=False, failed=3 + 4j)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="can hold a complex") as raised:
        encode(1, datetime.now(UTC), event)
    assert "3" not in str(raised.value)
