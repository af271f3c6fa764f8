"""How many parts of the units a release is found in: more of them where rows are many.

At scale 10 of TPC-H, four parts of lineitem by flag take 1.4 GB of memory in place of 2.6, and no
longer; more of them take longer, since each reads the table again. Where there are many groups,
sums of units in them are nearly as many as rows, so that more parts of fewer rows are worth it: at
scale 1, three parts of orders by clerk take a fifth less time.

How many rows there are decides nothing else: the sums are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, prod
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.strategy.selectivity import selectivity
from dpsql.emit.release.contributions import has_few_groups
from dpsql.emit.release.release import emit_release
from dpsql.emit.strategy.unit_batches import can_be_batched
from dpsql.engine.engine import Engine
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Contributions
from dpsql.release.job import Job, Step


@dataclass(frozen=True, slots=True)
class BatchPolicy:
    """A part has no fewer than so many `rows`; there are no more than so many `batches`."""

    rows: int
    batches: int


_SMALL_GROUP_COUNT: Final = BatchPolicy(rows=4_000_000, batches=4)
_LARGE_GROUP_COUNT: Final = BatchPolicy(rows=500_000, batches=8)
_MAX_BATCHES: Final = 32_000_000
"""Where parts would have more rows, there are more parts."""

_ROWS_OF_A_GROUP: Final = 100
"""What a group is taken to have at most, where many are looked up."""


def choose_batches(job: Job, engine: Engine) -> Job:
    """`job`, with its steps in as many parts as the rows that they read are worth."""
    return replace(job, steps=tuple(_with_batches(step, engine) for step in job.steps))


def _with_batches(step: Step, engine: Engine) -> Step:
    if not can_be_batched(step.bounded):
        return step
    number = _number(step.bounded, engine)
    if number < 2:
        return step
    return replace(step, query=emit_release(step.bounded, {}, in_batches=True), batches=number)


def _number(bounded: BoundedRelease, engine: Engine) -> int:
    terms = bounded.contributions
    rows = max(
        engine.row_count_for_planning(scan.table.name) for scan in private_scans(terms.source)
    )
    worth = _SMALL_GROUP_COUNT if has_few_groups(terms) else _LARGE_GROUP_COUNT
    if rows < 2 * worth.rows:
        return 1
    if (
        bounded.partition_count_index is None
        and worth is _LARGE_GROUP_COUNT
        and _are_looked_up(terms)
    ):
        rows = min(rows, _ROWS_OF_A_GROUP * prod(len(d.cells) for d in terms.domains))
    rows = floor(rows * selectivity(terms.source))
    return max(1, min(rows // worth.rows, max(worth.batches, rows // _MAX_BATCHES)))


def _are_looked_up(contributions: Contributions) -> bool:
    """Keys come from public rows, as those of parts of one brand, which most rows don't have."""
    below = column_domains(contributions.source)
    keys = (
        contributions.keys[place].expression
        for found in contributions.domains
        for place in found.keys
    )
    known = (domain(key, below) for key in keys)
    return any(each.values is None and each.bounds is None for each in known)
