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
from dpsql.bind.proof.unmatched_row_count import UnmatchedRows, with_unmatched
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
class _UnmatchedRows:
    """The rows without a partner: each is among the rows of the public `plan`.

    `constants` are the columns whose value they share, `independent` those that
    say the same of a row with partners; `is_all`: every row of `plan` is one of them, or has a
    partner. `at` is the outer join that keeps them.
    """

    plan: Plan
    constants: Fixed
    independent: frozenset[Column]
    at: Span | None
    is_all: bool = True

    @property
    def listed(self) -> frozenset[Column]:
        return frozenset(output_columns(self.plan))

    def rejects(self, predicates: Iterable[Expression]) -> bool:
        return any(never_true(p, self.constants) for p in predicates)


def release_without_unmatched(
    source: Plan,
    keys: tuple[Output, ...],
    aggregates: tuple[AggregateOutput, ...],
    qualified: Qualified,
    names: Names,
) -> Plan:
    """Private rows grouped, without the public rows that an outer join keeps, but with their keys.

    Raises Refused where those rows would have any other part in the answer.
    """
    kept = _unmatched_rows(source)
    has_unmatched = any(map(_has_unmatched, operators(source)))
    rows = bottom_up(_without_unmatched, source) if has_unmatched else source
    if kept is None:
        return Release(rows, keys, aggregates)
    alone = UnmatchedRows(kept.plan, kept.constants)
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
    return with_unmatched(release, alone, added, names) if added else release


def _has_unmatched(plan: Plan) -> bool:
    return isinstance(plan, OuterJoin) and plan.kind is OuterKind.PUBLIC


def _without_unmatched(plan: Plan) -> Plan:
    """The inner join of the same rows; what it is joined to beside it stands in one join."""
    if isinstance(plan, OuterJoin) and plan.kind is OuterKind.PUBLIC:
        plan = Join((plan.left, plan.right), plan.on)
    if not isinstance(plan, Join):
        return plan
    sources = tuple(s for p in plan.sources for s in (p.sources if isinstance(p, Join) else (p,)))
    on = tuple(c for p in plan.sources if isinstance(p, Join) for c in p.on)
    return Join(sources, (*on, *plan.on))


def _unmatched_rows(plan: Plan) -> _UnmatchedRows | None:
    """The rows of `plan` that belong to nobody; None if there are none."""
    match plan:
        case Scan() | Release() | Values() | PublicStatement():
            return None
        case Filter(source=source, predicate=predicate):
            return _filtered(_unmatched_rows(source), conjuncts(predicate))
        case Project(source=source, outputs=outputs):
            kept = _unmatched_rows(source)
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
            return _none(_unmatched_rows(source))
        case Union(sources=sources):
            return _none(*map(_unmatched_rows, sources))
        case SetOperation(left=left, right=right):
            return _none(_unmatched_rows(left), _unmatched_rows(right))
        case missing:
            assert_never(missing)


def _filtered(
    unmatched: _UnmatchedRows | None, predicates: tuple[Expression, ...]
) -> _UnmatchedRows | None:
    if unmatched is None or unmatched.rejects(predicates):
        return None
    for predicate in predicates:
        if not columns(predicate) <= unmatched.independent:
            raise Refused(
                f"{describe(predicate)} chooses among public rows by whether they have a private "
                "partner",
                at=unmatched.at,
                hint="write EXISTS or NOT EXISTS (SELECT 1 FROM … WHERE …), or use an inner join",
                note="outer_join",
            )
    # What reads released values is left out here: more keys are listed then.
    own = tuple(p for p in predicates if columns(p) <= unmatched.listed)
    listed = Filter(unmatched.plan, conjunction(own)) if own else unmatched.plan
    return replace(unmatched, plan=listed, is_all=unmatched.is_all and own == tuple(predicates))


def _projected(unmatched: _UnmatchedRows, outputs: tuple[Output, ...]) -> _UnmatchedRows:
    found = {o.column: constant(o.expression, unmatched.constants) for o in outputs}
    listed = tuple(o for o in outputs if columns(o.expression) <= unmatched.listed)
    plain = frozenset(o.column for o in outputs if columns(o.expression) <= unmatched.independent)
    fixed = {c: value for c, value in found.items() if value is not None}
    plan = Project(unmatched.plan, listed)
    return _UnmatchedRows(plan, fixed, plain, unmatched.at, unmatched.is_all)


def _joined(join: Join) -> _UnmatchedRows | None:
    found = [(source, _unmatched_rows(source)) for source in join.sources]
    keeping = [kept for _, kept in found if kept is not None]
    if not keeping or all(kept.rejects(join.on) for kept in keeping):
        return None
    (kept, *more) = keeping
    others = [source for source, known in found if known is None]
    if more or any(visibility(s) is Visibility.PRIVATE for s in others):
        return _none(kept)
    plain = kept.independent.union(*map(output_columns, others))
    public = tuple(s for s in others if visibility(s) is Visibility.PUBLIC)
    rows = Join((kept.plan, *public), ()) if public else kept.plan
    is_all = kept.is_all and len(public) == len(others)
    return _filtered(replace(kept, plan=rows, independent=plain, is_all=is_all), join.on)


def _outer(join: OuterJoin) -> _UnmatchedRows | None:
    ours, theirs = _unmatched_rows(join.left), _unmatched_rows(join.right)
    right = output_columns(join.right)
    match join.kind:
        case OuterKind.PUBLIC:
            missing = {c: Literal(None, c.type) for c in right}
            if theirs is not None:
                # Public rows kept on the right may be partners: what they hold isn't known.
                missing = {c: v for c, v in missing.items() if theirs.constants.get(c) == v}
            plain = frozenset(output_columns(join.left))
            is_all = ours is None and theirs is None
            return _UnmatchedRows(join.left, missing, plain, join.at, is_all)
        case OuterKind.FULL:
            return _none(ours, theirs)
        case OuterKind.LEFT:
            if theirs is not None and not theirs.rejects(join.on):
                return _none(theirs)
            return None if ours is None else _joined_with_public(ours, join)
        case unknown:
            assert_never(unknown)


def _joined_with_public(unmatched: _UnmatchedRows, join: OuterJoin) -> _UnmatchedRows:
    """Kept rows of the left side, with a partner of the right one if they have any."""
    right, whose = frozenset(output_columns(join.right)), visibility(join.right)
    if unmatched.rejects(join.on):
        nulls = {c: Literal(None, c.type) for c in right}
        return replace(unmatched, constants={**unmatched.constants, **nulls})
    if whose is Visibility.PRIVATE:
        _none(unmatched)
    read = columns(*join.on) - right
    plain = unmatched.independent
    plain = plain | right if read <= plain else plain
    if whose is Visibility.PUBLIC and read <= unmatched.listed:
        listed = OuterJoin(OuterKind.LEFT, unmatched.plan, join.right, join.on, None)
        return replace(unmatched, plan=listed, independent=plain)
    return replace(unmatched, independent=plain, is_all=False)


def _marked(mark: MarkJoin) -> _UnmatchedRows | None:
    kept, asked = _unmatched_rows(mark.source), _unmatched_rows(mark.relation)
    if asked is not None and not asked.rejects(mark.on):
        _none(asked)
    if kept is None:
        return None
    if kept.rejects(mark.on):
        return replace(kept, constants={**kept.constants, mark.column: Literal(False, Boolean())})
    read = columns(*mark.on) - frozenset(output_columns(mark.relation))
    whose = visibility(mark.relation)
    if whose is Visibility.PRIVATE or not read <= kept.independent:
        return kept
    known = replace(kept, independent=kept.independent | {mark.column})
    if whose is Visibility.PUBLIC and read <= kept.listed:
        return replace(known, plan=replace(mark, source=kept.plan))
    return known


def _none(*found: _UnmatchedRows | None) -> _UnmatchedRows | None:
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


def _counted(
    call: AggregateCall, unmatched: _UnmatchedRows, source: Plan, qualified: Qualified
) -> Refused:
    """Such an aggregate, and one that only has rows with a partner."""

    def named_fully(part: Expression) -> Expression:
        return replace(part, name=qualified(part)) if isinstance(part, Column) else part

    keys = {name for scan in private_scans(source) for name in scan.table.key or ()}
    absent = [c for c, value in unmatched.constants.items() if value.value is None]
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
        at=call.at or unmatched.at,
        hint=hint,
        note="outer_join",
    )
