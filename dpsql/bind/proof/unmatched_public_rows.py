"""Releases over outer joins that keep public rows: of an inner join, with the public rows' keys.

    SELECT specialty, count(visit_id) FROM doctors LEFT JOIN visits USING (doctor_id) GROUP BY 1

An unmatched row, a doctor without visits, belongs to nobody, and one visit makes it go away. So it
may reach the answer only by its group keys, which public rows tell as well, and by counts and sums
that `unmatched_row_count` computes from private rows. Where the statement reads such rows in no
other way, the release leaves all of them out, and lists the keys of the public rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct

from dpsql.analysis.domains.known_values import Fixed, constant, never_true
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.column_ids import Names
from dpsql.bind.proof.unmatched_refusal import Qualified, unmatched_in_aggregate
from dpsql.bind.proof.unmatched_row_count import UnmatchedRows, with_unmatched
from dpsql.errors import Refused, Span
from dpsql.plan.aggregate import AggregateOutput
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
from dpsql.plan.traversal import bottom_up, columns, operators
from dpsql.schema.sql_type import Boolean
from dpsql.structs import replace


class _UnmatchedRows(Struct, frozen=True):
    """The public rows without a private partner: each is one of the rows of the public `plan`.

    `constants` are the columns whose value all unmatched rows share; `independent` are those whose
    value doesn't depend on having a partner. `is_all`: each row of `plan` is unmatched or has a
    partner. `at` is the outer join that keeps the rows.
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
    """`source`, of private rows, grouped: without unmatched public rows, but with their keys.

    Raises Refused where unmatched rows would reach the answer in any other way.
    """
    unmatched = _unmatched_rows(source)
    has_unmatched = any(map(_has_unmatched, operators(source)))
    rows = bottom_up(_without_unmatched, source) if has_unmatched else source
    if unmatched is None:
        return Release(rows, keys, aggregates)
    unmatched_rows = UnmatchedRows(unmatched.plan, unmatched.constants)
    added = [output for output in aggregates if not unmatched_rows.add_nothing(output.call)]
    for output in added:
        if not unmatched.is_all or not unmatched_rows.can_add(output.call):
            raise unmatched_in_aggregate(
                output.call, unmatched.constants, unmatched.at, source, qualified
            )
    for key in keys:
        if not columns(key.expression) <= unmatched.listed:
            raise Refused(
                f"grouping by {describe(key.expression)} shows which public rows have no private "
                "partner",
                at=key.at or unmatched.at,
                hint="group by columns of the public table, or use an inner join",
                note="outer_join",
            )
    listed = Aggregate(unmatched.plan, keys, ()) if keys else None
    release = Release(rows, keys, aggregates, listed)
    return with_unmatched(release, unmatched_rows, added, names) if added else release


def _has_unmatched(plan: Plan) -> bool:
    return isinstance(plan, OuterJoin) and plan.kind is OuterKind.PUBLIC


def _without_unmatched(plan: Plan) -> Plan:
    """The inner join in the place of such an outer join `plan`; joins of joins become one."""
    if isinstance(plan, OuterJoin) and plan.kind is OuterKind.PUBLIC:
        plan = Join((plan.left, plan.right), plan.on)
    if not isinstance(plan, Join):
        return plan
    sources = tuple(s for p in plan.sources for s in (p.sources if isinstance(p, Join) else (p,)))
    on = tuple(c for p in plan.sources if isinstance(p, Join) for c in p.on)
    return Join(sources, (*on, *plan.on))


def _unmatched_rows(plan: Plan) -> _UnmatchedRows | None:
    """The unmatched public rows in `plan`; None if there are none."""
    match plan:
        case Scan() | Release() | Values() | PublicStatement():
            return None
        case Filter(source=source, predicate=predicate):
            return _filtered(_unmatched_rows(source), conjuncts(predicate))
        case Project(source=source, outputs=outputs):
            unmatched = _unmatched_rows(source)
            return None if unmatched is None else _projected(unmatched, outputs)
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
    # A predicate on released values isn't applied to the listed rows: more keys are listed then.
    own = tuple(p for p in predicates if columns(p) <= unmatched.listed)
    listed = Filter(unmatched.plan, conjunction(own)) if own else unmatched.plan
    return replace(unmatched, plan=listed, is_all=unmatched.is_all and own == tuple(predicates))


def _projected(unmatched: _UnmatchedRows, outputs: tuple[Output, ...]) -> _UnmatchedRows:
    values = {o.column: constant(o.expression, unmatched.constants) for o in outputs}
    listed = tuple(o for o in outputs if columns(o.expression) <= unmatched.listed)
    fixed = {c: value for c, value in values.items() if value is not None}
    known = unmatched.independent
    independent = frozenset(o.column for o in outputs if columns(o.expression) <= known)
    plan = Project(unmatched.plan, listed)
    return _UnmatchedRows(plan, fixed, independent, unmatched.at, unmatched.is_all)


def _joined(join: Join) -> _UnmatchedRows | None:
    unmatched_of = [(source, _unmatched_rows(source)) for source in join.sources]
    sides = [unmatched for _, unmatched in unmatched_of if unmatched is not None]
    if not sides or all(unmatched.rejects(join.on) for unmatched in sides):
        return None
    (unmatched, *more) = sides
    others = [source for source, known in unmatched_of if known is None]
    if more or any(visibility(s) is Visibility.PRIVATE for s in others):
        return _none(unmatched)
    independent = unmatched.independent.union(*map(output_columns, others))
    public = tuple(s for s in others if visibility(s) is Visibility.PUBLIC)
    rows = Join((unmatched.plan, *public), ()) if public else unmatched.plan
    is_all = unmatched.is_all and len(public) == len(others)
    return _filtered(replace(unmatched, plan=rows, independent=independent, is_all=is_all), join.on)


def _outer(join: OuterJoin) -> _UnmatchedRows | None:
    ours, theirs = _unmatched_rows(join.left), _unmatched_rows(join.right)
    right = output_columns(join.right)
    match join.kind:
        case OuterKind.PUBLIC:
            missing = {c: Literal(None, c.type) for c in right}
            if theirs is not None:
                # Public rows kept on the right may be partners: what they hold isn't known.
                missing = {c: v for c, v in missing.items() if theirs.constants.get(c) == v}
            independent = frozenset(output_columns(join.left))
            is_all = ours is None and theirs is None
            return _UnmatchedRows(join.left, missing, independent, join.at, is_all)
        case OuterKind.FULL:
            return _none(ours, theirs)
        case OuterKind.LEFT:
            if theirs is not None and not theirs.rejects(join.on):
                return _none(theirs)
            return None if ours is None else _joined_with_public(ours, join)
        case unknown:
            assert_never(unknown)


def _joined_with_public(unmatched: _UnmatchedRows, join: OuterJoin) -> _UnmatchedRows:
    """Unmatched rows of the left side of `join`, whose right side has none."""
    right, whose = frozenset(output_columns(join.right)), visibility(join.right)
    if unmatched.rejects(join.on):
        nulls = {c: Literal(None, c.type) for c in right}
        return replace(unmatched, constants={**unmatched.constants, **nulls})
    if whose is Visibility.PRIVATE:
        _none(unmatched)
    read = columns(*join.on) - right
    independent = unmatched.independent
    independent = independent | right if read <= independent else independent
    if whose is Visibility.PUBLIC and read <= unmatched.listed:
        listed = OuterJoin(OuterKind.LEFT, unmatched.plan, join.right, join.on, None)
        return replace(unmatched, plan=listed, independent=independent)
    return replace(unmatched, independent=independent, is_all=False)


def _marked(mark: MarkJoin) -> _UnmatchedRows | None:
    unmatched, unmatched_in_relation = _unmatched_rows(mark.source), _unmatched_rows(mark.relation)
    if unmatched_in_relation is not None and not unmatched_in_relation.rejects(mark.on):
        _none(unmatched_in_relation)
    if unmatched is None:
        return None
    if unmatched.rejects(mark.on):
        false = Literal(False, Boolean())
        return replace(unmatched, constants={**unmatched.constants, mark.column: false})
    read = columns(*mark.on) - frozenset(output_columns(mark.relation))
    whose = visibility(mark.relation)
    if whose is Visibility.PRIVATE or not read <= unmatched.independent:
        return unmatched
    known = replace(unmatched, independent=unmatched.independent | {mark.column})
    if whose is Visibility.PUBLIC and read <= unmatched.listed:
        return replace(known, plan=replace(mark, source=unmatched.plan))
    return known


def _none(*sources: _UnmatchedRows | None) -> _UnmatchedRows | None:
    """None, if none of `sources` is unmatched rows; Refused otherwise: no rule is for them here."""
    for unmatched in sources:
        if unmatched is not None:
            raise Refused(
                "public rows that an outer join keeps can be grouped by their own columns only",
                at=unmatched.at,
                hint="use an inner join: all keys of a public table appear in the result anyway",
                note="outer_join",
            )
    return None
