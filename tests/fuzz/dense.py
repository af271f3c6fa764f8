"""Small databases of the clinic: their few values meet and tie, and some are missing."""

from __future__ import annotations

import math
from functools import cache
from random import Random

from neighbor_search.public_rows import PUBLIC
from notes.compiler import schema_of

from dpsql.audit.databases.database_batch import DatabaseBatch
from dpsql.audit.databases.unit_ownership import Row, Rows

DATABASES = 3


@cache
def dense() -> DatabaseBatch:
    """The databases, in one engine."""
    random = Random("dense")
    return DatabaseBatch.separately(
        schema_of("clinic"), PUBLIC["clinic"], [_rows(random) for _ in range(DATABASES)]
    )


def _rows(random: Random) -> Rows:
    pick = random.choice
    patients: list[Row] = [
        (
            number,
            pick([0, 1, 2, 3, 41, 85, None]),
            pick(["F", "M", None]),
            pick([0.0, -0.0, 1.0, 2.0, 50.5, math.nan, math.inf, None]),
            pick([True, False, None]),
            pick(["x", "a", "A", "", None]),
        )
        for number in range(1, 13)
    ]
    visits: list[Row] = [
        (
            number,
            pick([*range(1, 14), None]),
            pick([1, 1, 2, 3, 4, None]),
            pick(["2024-01-01", "2024-01-02", "2024-02-01", "2024-03-05", "2024-12-31", None]),
            pick(["0", "1", "1", "2", "3", "99.99", None]),
            pick(["ER", "ER", "ICU", "GP", None]),
        )
        for number in range(1, 41)
    ]
    tests: list[Row] = [
        (
            number,
            pick([*range(1, 42), None]),
            pick(["blood", "scan", None]),
            pick([-5, 0, 1, 2, 3, None]),
        )
        for number in range(1, 41)
    ]
    readings: list[Row] = [
        (pick([0, 1, 2, 3, None]), pick([0.0, -0.0, 1.0, -0.5, None])) for _ in range(12)
    ]
    return {"patients": patients, "visits": visits, "tests": tests, "readings": readings}
