"""Outer joins that keep public rows: an inner join, whose group keys the kept rows list.

    SELECT specialty, count(visit_id) FROM doctors LEFT JOIN visits USING (doctor_id) GROUP BY 1

A kept row, a doctor without visits, belongs to nobody, and one visit makes it go away. Nothing of
it may reach the answer but its keys, which public rows tell as well, and what `kept_count` asks of
private rows; where the rest of the statement gives such a row no other part, leaving all of them
out changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from dpsql.analysis.domains.known_values import Fixed, constant, never_true
from dpsql.analysis.lineage.lineage import Visibility, private_scans, visibility
from dpsql.bind.column_ids import Names
from dpsql.bind.proof.unmatched_row_count import KeptRows, with_kept
from dpsql.errors import Refused, Span
from dpsql.plan.aggregate import AggregateCall, AggregateOutput
from dpsql.plan.expression import Column, Expression, Literal, conjunction, conjuncts
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    OuterKind,
    Output,
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
from dpsql.plan.traversal import bottom_up, columns, operators, rewrite_expression
from dpsql.schema.sql_type import Boolean

Qualified = Callable[[Column], str]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The rows without a partner: each is among the rows of the public `plan`.

    `fixed` are the columns whose value they share, `plain` those that say the same of a row with
    partners; `is_all`: every row of `plan` is one of them, or has a partner. `at` is the outer join
    that keeps them.
    """

    plan: Plan
    fixed: Fixed
    plain: frozenset[Column]
    at: Span | None
    is_all: bool = True

    @property
    def listed(self) -> frozenset[Column]:
        return frozenset(output_columns(self.plan))

    def drops(self, predicates: Iterable[Expression]) -> bool:
        return any(never_true(p, self.fixed) for p in predicates)


def release_of(
    source: Plan,
    keys: tuple[Output, ...],
    aggregates: tuple[AggregateOutput, ...],
    qualified: Qualified,
    names: Names,
) -> Plan:
    """Private rows grouped, without the public rows that an outer join keeps, but with their keys.

    Raises Refused where those rows would have any other part in the answer.
    """
    kept = _kept_rows(source)
    rows = bottom_up(_without_kept, source) if any(map(_keeps, operators(source))) else source
    if kept is None:
        return Release(rows, keys, aggregates)
    alone = KeptRows(kept.plan, kept.fixed)
    added = [output for output in aggregates if not alone.add_nothing(output.call)]
    for output in added:
        if not kept.is_all or not alone.can_add(output.call):
            raise _counted(output.call, kept, source, qualified)
    for key in keys:
        if not columns(key.expression) <= kept.listed:
            raise Refused(
                f"grouping by {describe(key.expression)} shows which public rows have no private "
                "partner",
                at=key.at or kept.at,
                hint="group by columns of the public table, or use an inner join",
                note="outer_join",
            )
    listed = Aggregate(kept.plan, keys, ()) if keys else None
    release = Release(rows, keys, aggregates, listed)
    return with_kept(release, alone, added, names) if added else release


def _keeps(plan: Plan) -> bool:
    return isinstance(plan, OuterJoin) and plan.kind is OuterKind.PUBLIC


def _without_kept(plan: Plan) -> Plan:
    """The inner join of the same rows; what it is joined to beside it stands in one join."""
    if isinstance(plan, OuterJoin) and plan.kind is OuterKind.PUBLIC:
        plan = Join((plan.left, plan.right), plan.on)
    if not isinstance(plan, Join):
        return plan
    sources = tuple(s for p in plan.sources for s in (p.sources if isinstance(p, Join) else (p,)))
    on = tuple(c for p in plan.sources if isinstance(p, Join) for c in p.on)
    return Join(sources, (*on, *plan.on))


def _kept_rows(plan: Plan) -> _Kept | None:
    """The rows of `plan` that belong to nobody; None if there are none."""
    match plan:
        case Scan() | Release() | Values() | PublicStatement():
            return None
        case Filter(source=source, predicate=predicate):
            return _filtered(_kept_rows(source), conjuncts(predicate))
        case Project(source=source, outputs=outputs):
            kept = _kept_rows(source)
            return None if kept is None else _projected(kept, outputs)
        case Join():
            return _joined(plan)
        case OuterJoin():
            return _outer(plan)
        case MarkJoin():
            return _marked(plan)
        case (
            Aggregate(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return _none(_kept_rows(source))
        case Union(sources=sources):
            return _none(*map(_kept_rows, sources))
        case SetOperation(left=left, right=right):
            return _none(_kept_rows(left), _kept_rows(right))
        case missing:
            assert_never(missing)


def _filtered(kept: _Kept | None, predicates: tuple[Expression, ...]) -> _Kept | None:
    if kept is None or kept.drops(predicates):
        return None
    for predicate in predicates:
        if not columns(predicate) <= kept.plain:
            raise Refused(
                f"{describe(predicate)} chooses among public rows by whether they have a private "
                "partner",
                at=kept.at,
                hint="write EXISTS or NOT EXISTS (SELECT 1 FROM … WHERE …), or use an inner join",
                note="outer_join",
            )
    # What reads released values is left out here: more keys are listed then.
    own = tuple(p for p in predicates if columns(p) <= kept.listed)
    listed = Filter(kept.plan, conjunction(own)) if own else kept.plan
    return replace(kept, plan=listed, is_all=kept.is_all and own == tuple(predicates))


def _projected(kept: _Kept, outputs: tuple[Output, ...]) -> _Kept:
    found = {o.column: constant(o.expression, kept.fixed) for o in outputs}
    listed = tuple(o for o in outputs if columns(o.expression) <= kept.listed)
    plain = frozenset(o.column for o in outputs if columns(o.expression) <= kept.plain)
    fixed = {c: value for c, value in found.items() if value is not None}
    return _Kept(Project(kept.plan, listed), fixed, plain, kept.at, kept.is_all)


def _joined(join: Join) -> _Kept | None:
    found = [(source, _kept_rows(source)) for source in join.sources]
    keeping = [kept for _, kept in found if kept is not None]
    if not keeping or all(kept.drops(join.on) for kept in keeping):
        return None
    (kept, *more) = keeping
    others = [source for source, known in found if known is None]
    if more or any(visibility(s) is Visibility.PRIVATE for s in others):
        return _none(kept)
    plain = kept.plain.union(*map(output_columns, others))
    public = tuple(s for s in others if visibility(s) is Visibility.PUBLIC)
    rows = Join((kept.plan, *public), ()) if public else kept.plan
    is_all = kept.is_all and len(public) == len(others)
    return _filtered(replace(kept, plan=rows, plain=plain, is_all=is_all), join.on)


def _outer(join: OuterJoin) -> _Kept | None:
    ours, theirs = _kept_rows(join.left), _kept_rows(join.right)
    right = output_columns(join.right)
    match join.kind:
        case OuterKind.PUBLIC:
            missing = {c: Literal(None, c.type) for c in right}
            if theirs is not None:
                # Public rows kept on the right may be partners: what they hold isn't known.
                missing = {c: v for c, v in missing.items() if theirs.fixed.get(c) == v}
            plain = frozenset(output_columns(join.left))
            is_all = ours is None and theirs is None
            return _Kept(join.left, missing, plain, join.at, is_all)
        case OuterKind.FULL:
            return _none(ours, theirs)
        case OuterKind.LEFT:
            if theirs is not None and not theirs.drops(join.on):
                return _none(theirs)
            return None if ours is None else _beside(ours, join)
        case unknown:
            assert_never(unknown)


def _beside(kept: _Kept, join: OuterJoin) -> _Kept:
    """Kept rows of the left side, with a partner of the right one if they have any."""
    right, whose = frozenset(output_columns(join.right)), visibility(join.right)
    if kept.drops(join.on):
        return replace(kept, fixed={**kept.fixed, **{c: Literal(None, c.type) for c in right}})
    if whose is Visibility.PRIVATE:
        _none(kept)
    read = columns(*join.on) - right
    plain = kept.plain | right if read <= kept.plain else kept.plain
    if whose is Visibility.PUBLIC and read <= kept.listed:
        listed = OuterJoin(OuterKind.LEFT, kept.plan, join.right, join.on, None)
        return replace(kept, plan=listed, plain=plain)
    return replace(kept, plain=plain, is_all=False)


def _marked(mark: MarkJoin) -> _Kept | None:
    kept, asked = _kept_rows(mark.source), _kept_rows(mark.relation)
    if asked is not None and not asked.drops(mark.on):
        _none(asked)
    if kept is None:
        return None
    if kept.drops(mark.on):
        return replace(kept, fixed={**kept.fixed, mark.column: Literal(False, Boolean())})
    read = columns(*mark.on) - frozenset(output_columns(mark.relation))
    whose = visibility(mark.relation)
    if whose is Visibility.PRIVATE or not read <= kept.plain:
        return kept
    known = replace(kept, plain=kept.plain | {mark.column})
    if whose is Visibility.PUBLIC and read <= kept.listed:
        return replace(known, plan=replace(mark, source=kept.plan))
    return known


def _none(*found: _Kept | None) -> _Kept | None:
    """No kept rows; refuse what has no rule for them, if there are any."""
    for kept in found:
        if kept is not None:
            raise Refused(
                "public rows that an outer join keeps can be grouped by their own columns only",
                at=kept.at,
                hint="use an inner join: all keys of a public table appear in the result anyway",
                note="outer_join",
            )
    return None


def _counted(call: AggregateCall, kept: _Kept, source: Plan, qualified: Qualified) -> Refused:
    """Such an aggregate, and one that only has rows with a partner."""

    def named_fully(part: Expression) -> Expression:
        return replace(part, name=qualified(part)) if isinstance(part, Column) else part

    keys = {name for scan in private_scans(source) for name in scan.table.key or ()}
    absent = [c for c, value in kept.fixed.items() if value.value is None]
    named = [c for c in absent if qualified(c) != c.name] or absent
    best = next((c for c in named if c.name in keys), named[0] if named else None)
    arguments = (rewrite_expression(named_fully, a) for a in call.arguments)
    distinct = "DISTINCT " if call.distinct else ""
    shown = f"{call.function.value}({distinct}{', '.join(map(describe, arguments)) or '*'})"
    hint = "use an inner join"
    if best is not None and call.filter is None:
        column = qualified(best)
        joined = f"{shown} FILTER (WHERE {column} IS NOT NULL)"
        joined = joined if call.arguments else f"count({column})"
        hint = f"{joined}, of the rows that have one"
    return Refused(
        f"{shown} takes in public rows that have no private partner",
        at=call.at or kept.at,
        hint=hint,
        note="outer_join",
    )
