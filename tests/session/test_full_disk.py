"""A full disk: nothing is charged that can't be answered, and what is stored is still answered."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mounts import fill, small_disk

from dpsql.errors import Error, LedgerFault, LedgerFull
from dpsql.session.session import Session

SCHEMA = """\
dataset: shop
source: {data}
tables:
  readings: {{unit: row, columns: {{value: {{type: bigint, bounds: [0, 9]}}}}}}
budget: {{epsilon: 1, delta: 1e-6, accounting: approx}}
per_query: {{epsilon: 0.0625, delta: 1e-9}}
ledger: {ledger}
"""
SUM = "SELECT sum(value) FROM readings"
COUNT = "SELECT count(*) FROM readings"
PRICE = Fraction(1, 16)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "4m") as found:
        yield found


@pytest.fixture
def shop(tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"value": [1, 2, 3]}), tmp_path / "data" / "readings.parquet")
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.format(data=tmp_path / "data", ledger=disk / "ledger.db"))
    return path


def spent(schema: Path) -> Fraction:
    session = Session(schema)
    try:
        session._context.ledger.open().verify()
        return session.balance().spent.amount
    finally:
        session.close()


def test_a_full_disk_charges_nothing_and_answers_what_is_stored(shop: Path, disk: Path) -> None:
    session = Session(shop)
    first = session.query(SUM).table
    filler = fill(disk)
    for number in range(12):
        with pytest.raises(LedgerFull, match="disk is full; nothing was charged"):
            session.query(f"SELECT count(*) FROM readings WHERE value > {number % 3}")
    assert session.query(SUM).table.equals(first)
    # Another session of another process, too, while this one has the ledger open.
    code = "import sys; from pathlib import Path; from dpsql.session.session import Session\n"
    code += "print(Session(Path(sys.argv[1])).query(sys.argv[2]).table.column(0)[0])"
    command = [sys.executable, "-c", code, str(shop), SUM]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert ended.stdout.strip() == str(first.column(0)[0]), ended.stderr
    session.close()
    filler.unlink()
    assert spent(shop) == PRICE
    later = Session(shop)
    assert later.query(COUNT).table.num_rows == 1
    later.close()
    assert not [path for path in disk.iterdir() if "-room-" in path.name]


@pytest.mark.parametrize("left", [0, 20_000, 60_000, 120_000, 400_000, 1_000_000, 1_300_000])
def test_however_little_room_is_left_what_is_charged_is_answered(
    shop: Path, disk: Path, left: int
) -> None:
    session = Session(shop)
    session.query(SUM)
    filler = fill(disk)
    os.truncate(filler, max(0, filler.stat().st_size - left))
    answered = 1
    told = []
    for number in range(3):
        try:
            session.query(f"SELECT count(*) FROM readings WHERE value > {number % 3}")
            answered += 1
        except LedgerFull as full:
            told.append(full.message)
    assert all(text.endswith("nothing was charged") for text in told)
    session.close()
    filler.unlink()
    assert spent(shop) == answered * PRICE


def test_an_anchor_on_a_full_disk_charges_nothing(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    shop.write_text(
        shop.read_text().replace(str(tmp_path / "disk" / "ledger.db"), str(tmp_path / "ledger.db"))
    )
    with small_disk(other, "1m"):
        monkeypatch.setenv("DPSQL_STATE", str(other))
        session = Session(shop)
        session.query(SUM)
        filler = fill(other)
        with pytest.raises(LedgerFault, match="disk is full; nothing was charged"):
            session.query(COUNT)
        session.close()
        filler.unlink()
        assert spent(shop) == PRICE


def test_an_answer_that_finds_no_room_after_all_says_that_its_charge_stands(
    shop: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.ledger.storage.disk_reservation import Room

    session = Session(shop)
    session.query(SUM)
    give = Room.give

    def taken(self: Room) -> None:
        give(self)
        fill(disk)

    monkeypatch.setattr(Room, "give", taken)
    with pytest.raises(Error, match="disk is full; its charge stands, and its answer is lost"):
        session.query(COUNT)
    session.close()
    monkeypatch.undo()
    (disk / "filler").unlink()
    monkeypatch.setenv("DPSQL_STATE", str(shop.parent / "state"))
    assert spent(shop) == 2 * PRICE
