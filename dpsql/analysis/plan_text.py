"""The operators of a bounded release as lines of text, each with the distance of neighbours' rows.

LimitGroups(6, by domain)                   PerGroup(units=1, groups_per_unit=6)
ClampPerGroup(rows_per_group=60)          Units(count=1)
…
"""

from __future__ import annotations

from typing import assert_never

from dpsql.analysis.limit_text import describe_caps, describe_limit
from dpsql.analysis.lineage.lineage import Visibility, has_row_units, unit_kind, visibility
from dpsql.analysis.stability import (
    contribution_stability,
    limited_stability,
    stability,
    unit_group_stability,
)
from dpsql.plan.aggregate import AggregateOutput, FrequentKey
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Contributions,
    LimitGroups,
    OneRowPerUnit,
)
from dpsql.plan.expression_text import describe, outline
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
from dpsql.privacy.distance import Distance, PerGroup, Units
from dpsql.schema.model import EntityUnit, Public, RowUnit

Line = tuple[int, str, str]
"""Depth in the tree, text of the operator, and its remark: a distance or a visibility."""

WIDTH = 90
"""Lines up to this length have their remarks in one column; longer ones don't push it aside."""


def plan_text(bounded: BoundedRelease, units: int) -> str:
    """The operators of `bounded`, outermost first, each with its distance for `units` units."""
    return aligned(plan_lines(bounded, units))


def plan_lines(bounded: BoundedRelease, units: int) -> list[Line]:
    """The lines of plan_text, before they are aligned; each remark is a distance."""
    return [(depth, text, show(distance)) for depth, text, distance in _bounded(bounded, units)]


def view_line(view: str, rows: Plan, units: int) -> Line:
    """The one line that stands for a release whose rows a view hides."""
    return 0, _view(view, rows), show(stability(rows, units))


def tree_text(plan: Plan, units: int) -> str:
    """The operators of a plan: private ones with their distance, others with their visibility."""
    return aligned(tree_lines(plan, units))


def tree_lines(plan: Plan, units: int) -> list[Line]:
    """The lines of tree_text, before they are aligned."""
    return _lines(plan, units, 0)


def aligned(lines: list[Line]) -> str:
    """Lines indented by their depth, with all remarks in one column."""
    texts = ["  " * depth + text for depth, text, _ in lines]
    width = max((len(text) for text in texts if len(text) <= WIDTH), default=0)
    return "\n".join(
        f"{text:<{width}}  -- {remark}" for text, (_, _, remark) in zip(texts, lines, strict=True)
    )


def show(distance: Distance) -> str:
    """A distance as grammar_notes/ write it."""
    match distance:
        case Units(count=count):
            return f"Units(count={count})"
        case PerGroup(units=count, groups_per_unit=per_unit):
            return f"PerGroup(units={count}, groups_per_unit={per_unit})"
        case missing:
            assert_never(missing)


def _bounded(bounded: BoundedRelease, units: int) -> list[tuple[int, str, Distance]]:
    limited = bounded.limited
    top = limited_stability(limited, units)
    match limited:
        case OneRowPerUnit():
            head: list[tuple[int, str, Distance]] = [(0, "OneRowPerUnit()", top)]
        case LimitGroups(source=clamped, limit=limit):
            head = [
                (0, describe_limit(limit, limited.rows), top),
                (
                    1,
                    f"ClampPerGroup(rows_per_group={clamped.rows_per_group}{describe_caps(limited)})",
                    unit_group_stability(clamped, units),
                ),
                (2, "PerUnitGroup(partial sums)", unit_group_stability(clamped.source, units)),
            ]
        case missing:
            assert_never(missing)
    terms = bounded.contributions
    depth = len(head)
    return [
        *head,
        (depth, _contributions(terms), contribution_stability(terms, units)),
        *_rows(terms.source, units, depth + 1),
    ]


def _plan(plan: Plan, units: int, depth: int) -> list[tuple[int, str, Distance]]:
    return [
        (depth, operator(plan), stability(plan, units)),
        *(line for source in _shown_sources(plan) for line in _plan(source, units, depth + 1)),
    ]


def _rows(plan: Plan, units: int, depth: int) -> list[tuple[int, str, Distance]]:
    """The lines of a release's rows; one line where a view of the schema hides what it reads."""
    hidden = hidden_in(plan)
    if hidden:
        return [(depth, _view(hidden, plan), stability(plan, units))]
    return _plan(plan, units, depth)


def _lines(plan: Plan, units: int, depth: int) -> list[Line]:
    kind = visibility(plan)
    remark = show(stability(plan, units)) if kind is Visibility.PRIVATE else kind.value
    return [
        (depth, operator(plan), remark),
        *(line for source in _shown_in_tree(plan) for line in _lines(source, units, depth + 1)),
    ]


def _shown_in_tree(plan: Plan) -> tuple[Plan, ...]:
    """The sources below `plan` in a tree: none below a release, which has a text of its own."""
    return () if isinstance(plan, Release) else _shown_sources(plan)


def _shown_sources(plan: Plan) -> tuple[Plan, ...]:
    """The sources that `plan` reads; none of a view, which stands for all that it reads."""
    return () if isinstance(plan, Project) and plan.view else sources(plan)


def hidden_in(plan: Plan) -> str:
    """The view that hides a table which `plan` itself reads; empty where no view does."""
    if isinstance(plan, Scan):
        return plan.table.hidden_behind
    return next((view for view in map(hidden_in, _shown_sources(plan)) if view), "")


def _view(name: str, plan: Plan) -> str:
    """A view as one operator, which stands for all that it reads."""
    kind = unit_kind(plan)
    if kind is None:
        return f"View({name})"
    return f"View({name}, unit={'row' if has_row_units(plan) else kind})"


def sources(plan: Plan) -> tuple[Plan, ...]:
    """The operators whose rows `plan` reads directly, in order."""
    match plan:
        case Scan() | Values() | PublicStatement():
            return ()
        case Join(sources=sources_read) | Union(sources=sources_read):
            return sources_read
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            return (left, right)
        case MarkJoin(source=source, relation=relation):
            return (source, relation)
        case (
            Filter(source=source)
            | Project(source=source)
            | Aggregate(source=source)
            | Window(source=source)
            | Release(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return (source,)
        case missing:
            assert_never(missing)


def operator(plan: Plan) -> str:  # noqa: PLR0911 - one arm for each operator
    """The operator at the top of `plan`, as one line of text."""
    match plan:
        case Scan():
            ready = "" if plan.sidecar is None else ", prepared"
            return f"Scan({plan.table.display_name}, {_owner(plan)}{ready})"
        case Filter(predicate=predicate):
            return f"Filter({describe(predicate)})"
        case Project(view=view) if view:
            return _view(view, plan)
        case Project(outputs=outputs):
            return f"Project({', '.join(outline(o.expression) for o in outputs)})"
        case Join(on=on):
            return f"Join({' AND '.join(map(describe, on)) or 'all pairs'})"
        case OuterJoin(kind=kind, on=on):
            return f"OuterJoin({kind.value}, {' AND '.join(map(describe, on)) or 'all pairs'})"
        case MarkJoin(on=on):
            return f"MarkJoin(has a row where {' AND '.join(map(describe, on)) or 'anything'})"
        case Union():
            return "Union()"
        case SetOperation(kind=operation):
            return f"SetOperation({operation.value})"
        case Window(outputs=windows):
            return f"Window({', '.join(w.column.name for w in windows)})"
        case Values(rows=rows):
            return f"Values({len(rows)} rows)" if rows else "Nothing()"
        case PublicStatement(tables=tables):
            return f"PublicStatement(as written, over copies of {', '.join(tables) or 'no table'})"
        case Aggregate(keys=keys, aggregates=aggregates):
            return f"Aggregate({_grouped([describe(k.expression) for k in keys], aggregates)})"
        case Release(frequent=FrequentKey(key=key, columns=chosen, counted=counted)):
            several = f"{len(chosen)} " if len(chosen) > 1 else ""
            counts = "" if counted is None else ", count(*)"
            return f"Release({several}most frequent {describe(key)}{counts})"
        case Release(candidates=Candidates() as candidates):
            return f"Release({_choice(candidates)})"
        case Release(keys=keys, aggregates=aggregates, hides_empty_groups=hides_empty):
            grouped = _grouped([describe(k.expression) for k in keys], aggregates)
            return f"Release({grouped}{'; of groups that have rows' if hides_empty else ''})"
        case Sort(by=by):
            terms = (describe(k.expression) + (" DESC" if k.descending else "") for k in by)
            return f"Sort({', '.join(terms)})"
        case Limit(count=count, offset=offset):
            return f"Limit({count}, offset={offset})"
        case missing:
            assert_never(missing)


def _choice(candidates: Candidates) -> str:
    """Which candidate is chosen; its columns have the names of the public rows'."""
    shown = ", ".join(output.column.name for output in candidates.outputs)
    weight = describe(candidates.weight)
    value, threshold = map(describe, (candidates.value, candidates.threshold))
    end = "least" if candidates.lowest else "greatest"
    count = f"count({value} {candidates.comparison.value} {threshold})"
    score = count if weight == "1" else f"({weight}) * {count}"
    return f"{shown} of the public row with the {end} {score}"


def _contributions(terms: Contributions) -> str:
    parts = [describe(key.expression) for key in terms.keys]
    unlisted = len(terms.unlisted_keys)
    sizes = " x ".join(str(len(domain.cells)) for domain in terms.domains)
    keys = f"keys={', '.join(parts)}" if parts else "no keys"
    if not parts:
        return f"Contributions({keys})"
    if not unlisted:
        return f"Contributions({keys}; {sizes} cells)"
    return f"Contributions({keys}; {'partly ' if unlisted < len(parts) else ''}unlisted)"


def _grouped(keys: list[str], aggregates: tuple[AggregateOutput, ...]) -> str:
    names = [output.column.name for output in aggregates]
    return ", ".join([*keys, *names])


def _owner(scan: Scan) -> str:
    match scan.table.ownership:
        case Public():
            return "public"
        case RowUnit():
            return "unit=row"
        case EntityUnit(kind=kind, hops=hops) if any(hop.hidden for hop in hops):
            by = ", ".join(hops[0].columns)
            return f"unit={by if len(hops[0].columns) == 1 else f'({by})'} → {kind}"
        case EntityUnit(hops=hops, column=column):
            path = [hop.text for hop in hops]
            return f"unit={'.'.join([*path, column])}"
        case missing:
            assert_never(missing)
