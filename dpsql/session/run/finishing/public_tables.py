"""Public tables that are read above the releases, hence copied to where the answer is finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dpsql.analysis.plan_text import sources
from dpsql.plan.operator import Filter, MarkJoin, Output, Plan, Project, Release, Scan
from dpsql.plan.traversal import operators
from dpsql.structs import replace


def public_scans(plan: Plan) -> dict[str, Scan]:
    """One scan of each table by what engines call it: two may read different columns of it."""
    return _scans(scan for scan, _ in _reads(plan))


def public_inputs(plan: Plan) -> dict[str, Plan]:
    """The rows of these scans that are needed: of a table that is read once, not all may be.

    What they are filtered by is asked again where the answer is finished, of fewer rows.
    """
    reads = list(_reads(plan))
    times = Counter(scan.table.engine_name for scan, _ in reads)
    filtered = {
        scan.table.engine_name: Project(rows, tuple(Output(c, c) for c in scan.columns))
        for scan, rows in reads
        if rows != scan and times[scan.table.engine_name] == 1
    }
    return {**_scans(scan for scan, _ in reads), **filtered}


def _scans(scans: Iterable[Scan]) -> dict[str, Scan]:
    read: dict[str, Scan] = {}
    for scan in scans:
        earlier = read.get(scan.table.engine_name)
        known = () if earlier is None else earlier.columns
        names = {column.name for column in known}
        more = tuple(column for column in scan.columns if column.name not in names)
        read[scan.table.engine_name] = replace(scan, columns=(*known, *more))
    return read


def _reads(plan: Plan) -> Iterator[tuple[Scan, Plan]]:
    """Scans of public tables above the releases, with what filters leave of each at once."""
    match plan:
        case Release():
            return
        case Scan():
            yield plan, plan
        case Filter() if (read := _filtered(plan)) is not None:
            scan, relations = read
            yield scan, plan
            for relation in relations:
                yield from _reads(relation)
        case _:
            for source in sources(plan):
                yield from _reads(source)


def _filtered(plan: Filter) -> tuple[Scan, tuple[Plan, ...]] | None:
    """The table of the source whose rows they are, and the relations these are filtered by."""
    relations: list[Plan] = []
    below: Plan = plan
    while isinstance(below, Filter | MarkJoin):
        if isinstance(below, MarkJoin):
            relations.append(below.relation)
        below = below.source
    return (below, tuple(relations)) if isinstance(below, Scan) and _is_of_source(plan) else None


def _is_of_source(plan: Plan) -> bool:
    """It reads nothing that was released, or is kept."""
    return not any(
        isinstance(each, Release) or (isinstance(each, Scan) and each.table.saved_entry is not None)
        for each in operators(plan)
    )
