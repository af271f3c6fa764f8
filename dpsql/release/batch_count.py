"""How many batches of units a release is run in: more where its tables have many rows.

How many rows a table has is private. It decides how long a statement runs and what memory it takes,
and nothing else: the sums are the same.
"""

from __future__ import annotations

from math import floor

from dpsql.engine.engine import Engine
from dpsql.plan.bounded_release.engine_query import HASH_SPACE, BatchPolicy


def batch_count(policy: BatchPolicy, engine: Engine) -> int:
    """The number of batches for the tables as `engine` has them, 1 if they are small."""
    rows = max(map(engine.row_count_for_planning, policy.tables))
    if rows < 2 * policy.min_rows:
        return 1
    if policy.rows_of_listed_groups is not None:
        rows = min(rows, policy.rows_of_listed_groups)
    rows = floor(rows * policy.selectivity)
    max_batches = max(policy.max_batches, rows // policy.max_rows)
    return max(1, min(rows // policy.min_rows, max_batches))


def unit_hashes(batch: int, batches: int) -> tuple[int, int]:
    """The first and the last hash of the units of one of so many batches."""
    return HASH_SPACE * batch // batches, HASH_SPACE * (batch + 1) // batches - 1
