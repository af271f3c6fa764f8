"""Column pruning: columns that nothing reads are not scanned."""

from __future__ import annotations

from typing import assert_never

from dpsql.plan.expression import Column
from dpsql.plan.operator import (
    Aggregate,
    Candidates,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    PublicStatement,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import bottom_up, columns, expressions, operators
from dpsql.structs import replace

Needed = frozenset[Column]


def prune_release(release: Release) -> Release:
    """`release` over sources with only those columns that its own parts read."""
    needed = columns(
        *(key.expression for key in release.keys),
        *(e for a in release.aggregates for e in expressions(a.call)),
    )
    candidates = release.candidates
    if release.frequent is not None:
        needed |= columns(release.frequent.key)
    if candidates is not None:
        needed |= columns(candidates.value)
        candidates = replace(candidates, rows=prune(candidates.rows, _read_of_rows(candidates)))
    return replace(release, source=prune(release.source, needed), candidates=candidates)


def _read_of_rows(candidates: Candidates) -> Needed:
    """The columns of public rows that choosing one of them reads."""
    shown = (output.expression for output in candidates.outputs)
    return columns(candidates.threshold, candidates.weight, *shown)


def prune(plan: Plan, needed: Needed) -> Plan:
    """`plan` with only `needed` columns and those that its own operators read."""
    match plan:
        case Scan(columns=scanned):
            return replace(plan, columns=tuple(c for c in scanned if c in needed))
        case Filter(source=source, predicate=predicate):
            return replace(plan, source=prune(source, needed | columns(predicate)))
        case Project(source=source, outputs=outputs):
            read = tuple(o for o in outputs if o.column in needed)
            below = columns(*(o.expression for o in read))
            return replace(plan, source=prune(source, below), outputs=read)
        case Join(sources=sources, on=on):
            wanted = needed | columns(*on)
            return replace(plan, sources=tuple(prune(s, wanted) for s in sources))
        case OuterJoin(left=left, right=right, on=on):
            wanted = needed | columns(*on)
            return replace(plan, left=prune(left, wanted), right=prune(right, wanted))
        case MarkJoin(source=source, relation=relation, on=on):
            if plan.column not in needed:
                return prune(source, needed)
            wanted = needed | columns(*on)
            return replace(plan, source=prune(source, wanted), relation=prune(relation, wanted))
        case Union(sources=sources):
            # Columns go by place, so all of them stay.
            whole = tuple(prune(s, frozenset(output_columns(s))) for s in sources)
            return replace(plan, sources=whole)
        case SetOperation(left=left, right=right):
            return replace(plan, left=unused(left), right=unused(right))
        case Window(source=source, outputs=windows):
            read_windows = tuple(w for w in windows if w.column in needed)
            wanted = needed | columns(*(e for w in read_windows for e in expressions(w)))
            below_window = prune(source, wanted)
            return Window(below_window, read_windows) if read_windows else below_window
        case Values() | PublicStatement():
            return plan
        case Aggregate(source=source, keys=keys, aggregates=aggregates):
            read_aggregates = tuple(a for a in aggregates if a.column in needed)
            if not keys:
                # What makes one row of any number of rows stays, though nobody reads it.
                read_aggregates = read_aggregates or aggregates[:1]
            below = columns(
                *(key.expression for key in keys),
                *(e for a in read_aggregates for e in expressions(a.call)),
            )
            return Aggregate(prune(source, below), keys, read_aggregates)
        case Sort(source=source, by=by):
            wanted = needed | columns(*(key.expression for key in by))
            return replace(plan, source=prune(source, wanted))
        case Limit(source=source):
            return replace(plan, source=prune(source, needed))
        case Release():
            return prune_release(plan)
        case missing:
            assert_never(missing)


def unused(plan: Plan) -> Plan:
    """`plan` without columns and aggregates that its output doesn't depend on."""
    shown = output_columns(plan)
    return prune(_unread(plan, frozenset(shown)), frozenset(shown))


def _unread(plan: Plan, shown: Needed) -> Plan:
    """`plan` without aggregates of releases that nothing reads, wherever the release is named.

    An aggregate that one of several mentions of a release reads stays in all of them, so that they
    stay one release.
    """
    read = shown | frozenset(c for part in operators(plan) for c in reads(part))

    def trimmed(part: Plan) -> Plan:
        if not isinstance(part, Release):
            return part
        read_aggregates = tuple(a for a in part.aggregates if a.column in read)
        candidates = part.candidates
        if candidates is not None:
            # The row that was chosen is a row, though nobody reads its columns.
            shown_outputs = tuple(o for o in candidates.outputs if o.column in read)
            candidates = replace(candidates, outputs=shown_outputs or candidates.outputs[:1])
        return replace(part, aggregates=read_aggregates, candidates=candidates)

    return bottom_up(trimmed, plan)


def reads(plan: Plan) -> Needed:
    """The columns that an operator's own expressions read, or that it matches by position."""
    match plan:
        case Filter(predicate=predicate):
            return columns(predicate)
        case Project(outputs=outputs):
            return columns(*(output.expression for output in outputs))
        case Join(on=on) | OuterJoin(on=on) | MarkJoin(on=on):
            return columns(*on)
        case (
            Aggregate(keys=keys, aggregates=aggregates) | Release(keys=keys, aggregates=aggregates)
        ):
            grouped = columns(
                *(key.expression for key in keys),
                *(e for a in aggregates for e in expressions(a.call)),
            )
            if isinstance(plan, Release) and plan.frequent is not None:
                return columns(plan.frequent.key)
            if not isinstance(plan, Release) or plan.candidates is None:
                return grouped
            return grouped | columns(plan.candidates.value) | _read_of_rows(plan.candidates)
        case Window(outputs=windows):
            return frozenset(c for w in windows for c in columns(*expressions(w)))
        case Sort(by=by):
            return columns(*(key.expression for key in by))
        case Union(sources=sources):
            return frozenset(c for source in sources for c in output_columns(source))
        case SetOperation(left=left, right=right):
            return frozenset((*output_columns(left), *output_columns(right)))
        case Scan() | Limit() | Values() | PublicStatement():
            return frozenset()
        case missing:
            assert_never(missing)
