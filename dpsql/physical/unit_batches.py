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

from dpsql.analysis.domains.column_domains import environment
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.strategy.selectivity import remaining
from dpsql.emit.release.contributions import has_few_groups
from dpsql.emit.release.release import emit_release
from dpsql.emit.strategy.unit_batches import goes_in_parts
from dpsql.engine.engine import Engine
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Terms
from dpsql.release.job import Job, Step


@dataclass(frozen=True, slots=True)
class _Worth:
    """A part has no fewer than so many `rows`; there are no more than so many `parts`."""

    rows: int
    parts: int


_FEW_GROUPS: Final = _Worth(rows=4_000_000, parts=4)
_MANY_GROUPS: Final = _Worth(rows=500_000, parts=8)
_MOST: Final = 32_000_000
"""Where parts would have more rows, there are more parts."""

_ROWS_OF_A_GROUP: Final = 100
"""What a group is taken to have at most, where many are looked up."""


def in_parts(job: Job, engine: Engine) -> Job:
    """`job`, with its steps in as many parts as the rows that they read are worth."""
    return replace(job, steps=tuple(_in_parts(step, engine) for step in job.steps))


def _in_parts(step: Step, engine: Engine) -> Step:
    if not goes_in_parts(step.bounded):
        return step
    number = _number(step.bounded, engine)
    if number < 2:
        return step
    return replace(step, query=emit_release(step.bounded, {}, in_parts=True), parts=number)


def _number(bounded: BoundedRelease, engine: Engine) -> int:
    terms = bounded.terms
    rows = max(engine.rows(scan.table.name) for scan in private_scans(terms.source))
    worth = _FEW_GROUPS if has_few_groups(terms) else _MANY_GROUPS
    if rows < 2 * worth.rows:
        return 1
    if bounded.selection is None and worth is _MANY_GROUPS and _are_looked_up(terms):
        rows = min(rows, _ROWS_OF_A_GROUP * prod(len(d.cells) for d in terms.domains))
    rows = floor(rows * remaining(terms.source))
    return max(1, min(rows // worth.rows, max(worth.parts, rows // _MOST)))


def _are_looked_up(terms: Terms) -> bool:
    """Keys come from public rows, as those of parts of one brand, which most rows don't have."""
    below = environment(terms.source)
    keys = (terms.keys[place].expression for found in terms.domains for place in found.keys)
    known = (domain(key, below) for key in keys)
    return any(each.values is None and each.bounds is None for each in known)
