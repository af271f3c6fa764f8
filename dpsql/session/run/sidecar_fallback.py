"""Statements that were planned with a sidecar read the source's own tables once it is gone.

A charge is never given back once the engine runs, so that a file which somebody deletes or replaces
between charge and run must not fail what it was charged for. Which rows there are, whose they are
and every limit are the same without it: so are the integers, and what noise they need. Where groups
were drawn when the file was made, others of a unit's are drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from dpsql.emit.release.release import emit_release
from dpsql.engine.engine import Engine
from dpsql.plan.bounded_release.bounded_release import (
    AggregateBelowJoin,
    BoundedRelease,
    ChooseGroupsFirst,
    Contributions,
    CountUnitsFirst,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    PerUnit,
    PhysicalPlan,
    SplitByContribution,
)
from dpsql.plan.operator import Plan, Release, Scan
from dpsql.plan.traversal import operators, replace_sources
from dpsql.release.job import Job, Step


def readable(job: Job, engine: Engine) -> Job:
    """`job` without what `engine` has no sidecar for; itself if that is nothing."""
    steps = tuple(_readable(step, engine) for step in job.steps)
    return job if steps == job.steps else replace(job, steps=steps)


def _readable(step: Step, engine: Engine) -> Step:
    found = (p for p in operators(step.bounded.contributions.source) if isinstance(p, Scan))
    wanted = {scan.table.name for scan in found if scan.sidecar is not None}
    if not wanted or wanted <= engine.sidecar_tables:
        return step
    bounded = from_source(step.bounded)
    return replace(step, bounded=bounded, query=emit_release(bounded, dict(step.public_inputs)))


def from_source(bounded: BoundedRelease) -> BoundedRelease:
    """`bounded` without a sidecar."""
    return replace(
        bounded, limited=_limited(bounded.limited), physical_plan=_bounding(bounded.physical_plan)
    )


def _limited(limited: Limited) -> Limited:
    match limited:
        case OneRowPerUnit(source=terms):
            return replace(limited, source=_terms(terms))
        case LimitGroups(source=clamped):
            partials = replace(clamped.source, source=_terms(limited.contributions))
            return replace(limited, source=replace(clamped, source=partials))
        case missing:
            assert_never(missing)


def _bounding(bounding: PhysicalPlan) -> PhysicalPlan:
    """What reads a sidecar, or tables of its own, gives the integers of each unit by itself."""
    match bounding:
        case SplitByContribution() | AggregateBelowJoin():
            return PerUnit()
        case PerUnit() | ChooseGroupsFirst() | CountUnitsFirst():
            return bounding
        case missing:
            assert_never(missing)


def _terms(terms: Contributions) -> Contributions:
    return replace(terms, source=_own_tables(terms.source))


def _own_tables(plan: Plan) -> Plan:
    match plan:
        case Release():
            return plan
        case Scan():
            return replace(plan, sidecar=None)
        case _:
            return replace_sources(_own_tables, plan)
