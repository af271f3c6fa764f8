"""Disks that are full and files that can't be written: what isn't durable isn't granted."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger.ledger_world import TENTH, Place, charge, place_in, run, terms

from dpsql.errors import LedgerFault
from dpsql.ledger.chain.anchor import Tail
from dpsql.ledger.chain.entry import Charged

GRANTED, REFUSED = 0, 3
NOBODY = 65534


def charge_until_full(place: Place, log: Path, size: int) -> None:
    """Ends with REFUSED, as soon as a file would grow beyond `size` bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with log.open("w", buffering=1) as told:
        try:
            with place.open(terms(1000)) as ledger:
                # What is written from here on hits the limit, the log of the test included.
                told.write("opened\n")
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
                for number in range(400):
                    ledger.await_disk(ledger.charge(charge(number, query="x" * 500), room=4096))
                    told.write("granted\n")
        except LedgerFault:
            os._exit(REFUSED)


@pytest.mark.parametrize("size", [100_000, 150_001, 204_800])
def test_a_full_disk_grants_nothing_that_it_cant_keep(
    place: Place, tmp_path: Path, size: int
) -> None:
    log = tmp_path / "told"
    assert run(charge_until_full, place, log, size) == REFUSED
    granted = log.read_text().count("granted")
    assert granted > 0
    with place.open(terms(1000)) as ledger:
        ledger.verify()
        charged = [e for e in ledger.history() if isinstance(e.event, Charged)]
        assert granted <= len(charged) <= granted + 1
        assert ledger.balance().spent.amount == len(charged) * TENTH
        assert ledger.charge(charge("more room")).fresh


def test_an_anchor_without_room_grants_nothing(place: Place) -> None:
    # The anchor's file is the only one that is longer than the limit.
    with place.open(terms(1000)) as ledger:
        for number in range(5):
            ledger.charge(charge(f"before {number}"))
    assert run(charge_without_anchor, place, place.anchor.stat().st_size + 40) == REFUSED
    with place.open(terms(1000)) as ledger:
        ledger.verify()
        assert ledger.balance().spent.amount in {5 * TENTH, 6 * TENTH}


def charge_without_anchor(place: Place, size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with place.open(terms(1000)) as ledger:
        append = ledger._chain.anchor.append

        def limited(tail: Tail, lines: bytes) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            try:
                append(tail, lines)
            finally:
                unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)

        pytest.MonkeyPatch().setattr(ledger._chain.anchor, "append", limited)
        try:
            ledger.await_disk(ledger.charge(charge("one too many")))
        except LedgerFault:
            os._exit(REFUSED)


@pytest.fixture
def nobodys() -> Iterator[Place]:
    """A place that root, too, can only use as its owner: root's child becomes nobody."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        place = place_in(folder)
        with place.open(terms(1000)) as ledger:
            ledger.charge(charge(1))
        yield place
    finally:
        for path in folder.rglob("*"):
            path.chmod(0o700)
        shutil.rmtree(folder)


def charge_as_nobody(place: Place) -> None:
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        with place.open(terms(1000)) as ledger:
            ledger.await_disk(ledger.charge(charge(2)))
    except LedgerFault:
        os._exit(REFUSED)


@pytest.mark.parametrize("which", ["ledger", "anchor", "both", "folder", "none"])
def test_what_cant_be_written_grants_nothing(nobodys: Place, which: str) -> None:
    top = nobodys.path.parent.parent
    if os.geteuid() == 0:
        for path in (top, *top.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    closed = {
        "ledger": [nobodys.path],
        "anchor": [nobodys.anchor],
        "both": [nobodys.path, nobodys.anchor],
        "folder": [nobodys.path.parent],
        "none": [],
    }[which]
    for path in closed:
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert run(charge_as_nobody, nobodys) == (REFUSED if closed else GRANTED)
    for path in (top, *top.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
        if os.geteuid() == 0:
            os.chown(path, 0, 0)
    with nobodys.open(terms(1000)) as ledger:
        ledger.verify()
        # A charge that only the anchor kept from being granted stays spent.
        assert ledger.balance().spent.amount <= 2 * TENTH
