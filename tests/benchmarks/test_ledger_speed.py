"""Charging and opening cost the same however long the history is: ratios within one run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import pytest
from ledger.ledger_world import Place, charge, place_in, terms

from dpsql.ledger.ledger import Ledger


def median_seconds(work: Callable[[int], object], times: int) -> float:
    found = []
    for number in range(times):
        start = time.perf_counter()
        work(number)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def spend(ledger: Ledger, until: int) -> None:
    """Charges and answers: only the length matters here."""
    done = ledger._store.last()
    for number in range(done, until):
        ledger.release(ledger.charge(charge(f"filled {number}")), b"noisy")


def charging(ledger: Ledger, name: str) -> float:
    return median_seconds(lambda number: ledger.charge(charge(f"{name} {number}")), 50)


def opening(place: Place) -> float:
    return median_seconds(lambda _: place.open(terms(10**6)).close(), 9)


@pytest.mark.slow
@pytest.mark.parametrize("length", [100_000])
def test_a_long_history_makes_neither_charges_nor_openings_slow(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    place = place_in(tmp_path_factory.mktemp("long"))
    ledger = place.open(terms(10**6))
    spend(ledger, 100)
    first = charging(ledger, "early")
    ledger.close()
    opened = opening(place)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        with place.open(terms(10**6)) as ledger:
            spend(ledger, length)
    reopened = opening(place)
    with place.open(terms(10**6)) as ledger:
        last = charging(ledger, "late")
    print(  # noqa: T201 - the measurement
        f"\ncharge {1000 * first:.1f} ms after 100, {1000 * last:.1f} ms after {length};"
        f" opening {1000 * opened:.1f} ms, {1000 * reopened:.1f} ms"
    )
    assert last <= 2 * first
    # An opening replays the entries behind the last sum: at most a thousand, and a hundred before.
    assert reopened <= 8 * opened + 0.05
