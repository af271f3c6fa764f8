"""Damaged and forged ledgers: a fault, or no harm; never a traceback, never a larger budget."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledger.ledger_world import PURE, TENTH, Place, charge, place_in

from dpsql.errors import LedgerFault
from dpsql.ledger.amount import padded
from dpsql.ledger.chain.anchor import WIDTH
from dpsql.ledger.charge import StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.privacy.accounting.loss import PrivacyLoss

KEY = "c" * 64
SPENT = 12 * TENTH


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = place_in(tmp_path_factory.mktemp("whole"))
    with place.open() as ledger:
        for number in range(12):
            receipt = ledger.charge(charge(number, analyst=f"analyst {number % 3}"))
            if number % 4 == 3:
                ledger.burn(receipt)
            else:
                kept = StoredAnswer(f"{number:064x}", b"kept", PrivacyLoss(PURE, TENTH))
                ledger.release(receipt, b"answer" * 2000, [kept])
        ledger.read_answers([f"{0:064x}"], "carol", None, "p")
    return place


def use(place: Place) -> str:
    """Everything a session and an auditor do; says how far it got."""
    try:
        ledger = Ledger.as_recorded(place.path, place.anchor)
    except LedgerFault:
        return "refused"
    # What opens has the balance it had.
    assert ledger.balance().spent.amount == SPENT
    try:
        with ledger:
            for entry in ledger.history():
                assert entry.seq
            for number in range(12):
                again = ledger.charge(charge(number, analyst=f"analyst {number % 3}"))
                if again.state.value == "released":
                    assert ledger.replay(again) == b"answer" * 2000
            # A damaged index may have forgotten the release: then it is paid again.
            if ledger.stored_answers([f"{0:064x}"]):
                ledger.read_answers([f"{0:064x}"], "analyst 1", None, "p")
            ledger.verify()
            assert ledger.balance().spent.amount >= SPENT
    except LedgerFault:
        return "found later"
    return "harmless"


def damaged(whole: Place, folder: Path, which: str, content: bytes) -> str:
    place = place_in(folder)
    for path in (place.path, place.anchor):
        path.parent.mkdir(exist_ok=True)
    place.restore({place.path: whole.path.read_bytes(), place.anchor: whole.anchor.read_bytes()})
    getattr(place, which).write_bytes(content)
    return use(place)


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_whole_ledger_is_whole(whole: Place, tmp_path: Path) -> None:
    assert damaged(whole, tmp_path, "path", whole.path.read_bytes()) == "harmless"


def flips(content: bytes, each: int, seed: int) -> list[int]:
    """`each` random bits of every 4 KiB, and of the first 100 bytes."""
    chance = random.Random(seed)
    starts = [
        (0, 100),
        *((at, min(at + 4096, len(content))) for at in range(0, len(content), 4096)),
    ]
    return [chance.randrange(8 * low, 8 * high) for low, high in starts for _ in range(each)]


def attack(whole: Place, folder: Path, which: str, each: int, seed: int) -> dict[str, int]:
    content = getattr(whole, which).read_bytes()
    found: dict[str, int] = {}
    for bit in flips(content, each, seed):
        verdict = damaged(whole, folder, which, flipped(content, bit))
        found[verdict] = found.get(verdict, 0) + 1
    return found


def test_a_flipped_bit_in_any_page_is_no_larger_budget(whole: Place, tmp_path: Path) -> None:
    found = attack(whole, tmp_path, "path", 6, 1)
    assert found["refused"] > 0


def test_a_flipped_bit_in_the_anchor_is_a_fault(whole: Place, tmp_path: Path) -> None:
    assert set(attack(whole, tmp_path, "anchor", 60, 2)) == {"refused"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_flipped_bits_are_no_larger_budget(whole: Place, tmp_path: Path, seed: int) -> None:
    attack(whole, tmp_path, "path", 10, seed)


def test_a_ledger_cut_at_any_page_is_a_fault(whole: Place, tmp_path: Path) -> None:
    content = whole.path.read_bytes()
    cuts = [1, 99, 100, *range(512, 4096, 512), *range(4096, len(content), 4096)]
    for cut in cuts:
        assert damaged(whole, tmp_path, "path", content[:cut]) == "refused", cut


def test_an_anchor_cut_short_is_mended_from_the_chain(whole: Place, tmp_path: Path) -> None:
    # It tells less than it did, but all that it tells is true, and nothing was spent in between.
    content = whole.anchor.read_bytes()
    for cut in (WIDTH, WIDTH + 1, 2 * WIDTH - 1, 5 * WIDTH, len(content) - 1):
        assert damaged(whole, tmp_path, "anchor", content[:cut]) == "harmless", cut
        assert place_in(tmp_path).anchor.read_bytes().startswith(content)


@pytest.mark.parametrize(
    "tail", [b"0", b"000000000026 ", b"\n", b"x" * WIDTH, b"0" * 1000, bytes(WIDTH)]
)
def test_an_anchor_with_more_than_the_chain_is_a_fault(
    whole: Place, tmp_path: Path, tail: bytes
) -> None:
    assert damaged(whole, tmp_path, "anchor", whole.anchor.read_bytes() + tail) == "refused"


FORGERIES = {
    "less spent": f"UPDATE account SET spent = '{padded(0)}'",
    "less spent by one": f"UPDATE account SET spent = '{padded(10**24)}' WHERE analyst = 'carol'",
    "no account": "DELETE FROM account WHERE analyst = ''",
    "one more account": "INSERT INTO account "
    "SELECT 'eve', spent, cap, delta, delta_cap FROM account LIMIT 1",
    "blob for text": "UPDATE account SET spent = CAST(spent AS BLOB), cap = NULL",
    "letters": f"UPDATE account SET spent = '{'x' * 36}', cap = NULL",
    "no terms": "DELETE FROM in_force",
    "two terms": "INSERT INTO in_force VALUES (1, NULL)",
    "other terms": "UPDATE in_force SET terms = 2",
    "a sum that is none": "UPDATE in_force SET summed = 2",
    "an entry gone": "DROP TRIGGER entry_delete; DELETE FROM entry WHERE seq = 5",
    "the last entry gone": "DROP TRIGGER entry_delete; DELETE FROM entry WHERE seq = 26",
    "an entry changed": "DROP TRIGGER entry_update; "
    "UPDATE entry SET body = replace(body, '1/10', '1/99') WHERE seq = 2",
    "a hash changed": "DROP TRIGGER entry_update; "
    f"UPDATE entry SET hash = '{'0' * 64}' WHERE seq = 2",
    "a body of bytes": "DROP TRIGGER entry_update; UPDATE entry SET body = CAST(body AS BLOB)",
    "not UTF-8": "DROP TRIGGER entry_update; UPDATE entry SET body = CAST(x'ff' AS TEXT)",
    "an entry added": f"INSERT INTO entry VALUES (27, '{'0' * 64}', '{{}}')",
}
FOUND_BY_AUDIT = {
    "a request gone": "DELETE FROM request WHERE id = '3'",
    "a request reopened": "UPDATE request SET settled = NULL WHERE id = '3'",
    "a request of another charge": "UPDATE request SET charged = 1 WHERE id = '3'",
    "an answer changed": "UPDATE answer SET bytes = x'00'",
    "an answer gone": "DELETE FROM answer",
    "an answer of text": "UPDATE answer SET bytes = 'text'",
    "a kept release moved": "UPDATE kept SET released = 2",
    "a reader forged": "INSERT INTO seen SELECT key, 'eve', 2 FROM kept",
    "a reader forgotten": "DELETE FROM seen",
}
TRIGGERS = {
    "entry_update": "CREATE TRIGGER entry_update BEFORE UPDATE ON entry "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "entry_delete": "CREATE TRIGGER entry_delete BEFORE DELETE ON entry "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
}


def forge(whole: Place, folder: Path, script: str) -> Place:
    place = place_in(folder)
    for path in (place.path, place.anchor):
        path.parent.mkdir()
    place.restore({place.path: whole.path.read_bytes(), place.anchor: whole.anchor.read_bytes()})
    with closing(sqlite3.connect(place.path)) as database:
        database.executescript(script)
        # A careful forger leaves no trigger missing.
        for name, text in TRIGGERS.items():
            if name in script:
                database.execute(text)
    return place


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_balance_or_entry_is_refused_at_opening(
    whole: Place, tmp_path: Path, name: str
) -> None:
    assert use(forge(whole, tmp_path, FORGERIES[name])) == "refused"


@pytest.mark.parametrize("name", FOUND_BY_AUDIT)
def test_a_forged_index_or_answer_is_found_by_the_audit(
    whole: Place, tmp_path: Path, name: str
) -> None:
    place = forge(whole, tmp_path, FOUND_BY_AUDIT[name])
    with Ledger.as_recorded(place.path, place.anchor) as ledger, pytest.raises(LedgerFault):
        ledger.verify()


def test_a_missing_constraint_is_refused_at_opening(whole: Place, tmp_path: Path) -> None:
    place = forge(whole, tmp_path, "DROP TRIGGER entry_update; DROP INDEX request_open")
    with pytest.raises(LedgerFault, match="other tables than it was created with"):
        Ledger.as_recorded(place.path, place.anchor)


def test_sql_itself_refuses_to_pass_the_cap_or_rewrite_an_entry(
    whole: Place, tmp_path: Path
) -> None:
    place = forge(whole, tmp_path, "")
    with closing(sqlite3.connect(place.path)) as database:
        for statement in (
            f"UPDATE account SET spent = '{padded(11 * 10**24)}' WHERE analyst = ''",
            "UPDATE account SET spent = '9' WHERE analyst = ''",
            "UPDATE entry SET body = ''",
            "DELETE FROM entry",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                database.execute(statement)
