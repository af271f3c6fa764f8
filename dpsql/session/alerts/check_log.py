"""The checks of one alert in the ledger: numbered requests, each of which is begun before it runs.

A check that has an answer says how often the alert has named a condition up to then. One without an
answer (it failed, was stopped, or its process is gone) counts as one that named a condition: what
may have been seen of it is not more than that, and nobody gets a check for nothing by ending it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from datetime import datetime

from msgspec import Struct

from dpsql.engine.digest import digest_of
from dpsql.ledger.charge import State
from dpsql.ledger.ledger import Ledger


class CheckRecord(Struct, frozen=True):
    """What one check said of the data of a `version`: `table` is of what was named, as bytes.

    `used` is how often the alert has named a condition, this time included.
    """

    version: str
    used: int
    table: bytes

    def encode(self) -> bytes:
        """The record as the ledger stores it."""
        about = {"version": self.version, "used": self.used}
        return json.dumps(about, sort_keys=True).encode() + b"\n" + self.table


def decode_check(data: bytes) -> CheckRecord:
    """What `encode` wrote."""
    about, _, table = data.partition(b"\n")
    fields = json.loads(about)
    return CheckRecord(fields["version"], fields["used"], table)


class CheckHistory(Struct, frozen=True):
    """What is known of an alert's checks: their number, and how often they named a condition.

    `last` is the record of the last one, None if it has none; `at` is when it began, None before
    the first. `running`: it runs now, elsewhere.
    """

    checks: int
    used: int
    last: CheckRecord | None
    at: datetime | None
    running: bool


def request_id(key: str, number: int) -> str:
    """What check `number` of the alert that is stored under `key` is requested as."""
    return digest_of("check of an alert", key, str(number))


def check_history(ledger: Ledger, key: str) -> CheckHistory:
    """All that the ledger has of the checks of the alert that is stored under `key`."""
    count = _count(ledger, key)
    used, last, at, running = 0, None, None, False
    for number in reversed(range(count)):
        receipt = ledger.receipt(request_id(key, number))
        assert receipt is not None
        is_last = number == count - 1
        if is_last:
            at, running = receipt.at, receipt.state is State.CHARGED
        if receipt.state is State.RELEASED:
            record = decode_check(ledger.replay(receipt))
            last = record if is_last else None
            used += record.used
            break
        used += 1
    return CheckHistory(count, used, last, at, running)


def _count(ledger: Ledger, key: str) -> int:
    """How many checks there were: they have all numbers below that."""

    def exists(number: int) -> bool:
        return ledger.receipt(request_id(key, number)) is not None

    high = 1
    while exists(high - 1):
        high *= 2
    return bisect_left(range(high), x=True, key=lambda number: not exists(number))
