"""Public tables that are read above the releases, hence copied to where the answer is finished."""

from __future__ import annotations

from dataclasses import replace

from dpsql.plan.operator import Plan, Release, Scan
from dpsql.stability.chain import sources


def copied_scans(plan: Plan) -> dict[str, Scan]:
    """One scan of each table by what engines call it: two may read different columns of it."""
    read: dict[str, Scan] = {}
    for scan in _public_scans(plan):
        earlier = read.get(scan.table.stored_as)
        known = () if earlier is None else earlier.columns
        names = {column.name for column in known}
        more = tuple(column for column in scan.columns if column.name not in names)
        read[scan.table.stored_as] = replace(scan, columns=(*known, *more))
    return read


def _public_scans(plan: Plan) -> list[Scan]:
    """Public tables read above the releases, not below them."""
    if isinstance(plan, Release):
        return []
    if isinstance(plan, Scan):
        return [plan]
    return [scan for source in sources(plan) for scan in _public_scans(source)]
