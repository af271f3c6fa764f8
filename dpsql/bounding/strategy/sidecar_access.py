"""Private tables are read from the sidecar where their rows stand ready with their units.

That changes no row of the plan: which rows there are, whose they are, and every limit stay.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.bounding.public_facts import Facts
from dpsql.plan.operator import Plan, Release, Scan, SidecarAccess
from dpsql.plan.traversal import replace_sources


def from_sidecar(release: Release, facts: Facts) -> Release:
    """`release` over what stands ready; releases below it are read as tables, not made again."""
    return replace(release, source=_with_sidecar(release.source, facts))


def _with_sidecar(plan: Plan, facts: Facts) -> Plan:
    match plan:
        case Release():
            return plan
        case Scan(table=table, unit=unit):
            is_ready = unit is not None and facts.in_sidecar(table)
            return replace(plan, sidecar=SidecarAccess.ROWS) if is_ready else plan
        case _:
            return replace_sources(lambda source: _with_sidecar(source, facts), plan)
