"""Operators as SELECTs. Every SELECT of private rows hands on the unit beside its columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import unit
from dpsql.analysis.lineage.same_unit_conditions import is_same_unit
from dpsql.analysis.lineage.unit_identity import unit_valued_columns
from dpsql.emit.dialect.nodes import (
    constant,
    exact_aggregate,
    exact_window,
    scalar,
    stored_column,
)
from dpsql.emit.dialect.row_estimate import limit_rows, may_seem_empty
from dpsql.emit.dialect.sort_key import sort_key
from dpsql.emit.relation.counts_below_join import CountsBelowJoin
from dpsql.emit.relation.scan_and_join import (
    RowTest,
    inner_join,
    mark_join,
    mark_join_rows,
    outer_join,
    passed_on,
    scan,
    unit_sources,
    without_unit,
)
from dpsql.emit.sql.clauses import select_of, select_over
from dpsql.emit.sql.identifier import (
    as_column,
    column_name,
    dummy_column,
    reference,
    subquery,
    table,
    union_all,
)
from dpsql.errors import InternalError
from dpsql.plan.expression import Column, Expression, Not, conjuncts, matched
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    Output,
    Plan,
    Project,
    PublicStatement,
    Release,
    Scan,
    SetKind,
    SetOperation,
    SidecarAccess,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import bottom_up, columns, operators
from dpsql.structs import replace


def emit_plan(plan: Plan, releases: Mapping[Release, str]) -> exp.Select:
    """`plan` over the engine's tables and, by name, over released ones."""
    match plan:
        case Scan():
            return scan(plan)
        case Filter(source=Join() as join, predicate=predicate):
            joined = inner_join(join, _sources(join, releases))
            return joined.where(scalar(predicate), copy=False)
        case Filter(source=Filter() | MarkJoin()):
            return _filtered(plan, releases)
        case Filter(source=source, predicate=predicate):
            return _select_over(source, releases, passed_on(source)).where(
                scalar(predicate), copy=False
            )
        case Project(source=Sort() | Limit() as source, outputs=outputs):
            # One SELECT computes and orders: the order of a derived table is nobody's promise.
            return _ordered(source, releases, _computed(outputs, source))
        case Project(source=source, outputs=outputs):
            return _select_over(source, releases, _computed(outputs, source))
        case Join():
            return inner_join(plan, _sources(plan, releases))
        case OuterJoin(left=left, right=right):
            return outer_join(plan, emit_plan(left, releases), emit_plan(right, releases))
        case MarkJoin(source=source):
            test = _without_needless_unit(plan)
            return mark_join(test, emit_plan(source, releases), emit_plan(test.relation, releases))
        case Union(sources=sources):
            arms = [_arm(source, plan.outputs, plan.unit, releases) for source in sources]
            return union_all(exp.union(*arms, distinct=False, copy=False))
        case SetOperation(kind=kind, left=left, right=right, outputs=outputs):
            own = unit(left)
            combine = exp.intersect if kind is SetKind.INTERSECT else exp.except_
            arms = [_arm(source, outputs, own, releases) for source in (left, right)]
            return union_all(combine(*arms, distinct=True, copy=False))
        case Window(source=source, outputs=windows):
            added = [as_column(exact_window(w.call, source), w.column) for w in windows]
            return _select_over(source, releases, [*passed_on(source), *added])
        case Values():
            return _listed(plan)
        case PublicStatement():
            raise InternalError("what an analyst wrote is given to no engine of the source")
        case Aggregate():
            return _aggregated(plan, releases)
        case Release():
            columns = output_columns(plan)
            items = [
                as_column(stored_column(reference(c), c.type, is_saved=True), c) for c in columns
            ]
            return select_of(items, table(releases[plan]))
        case Sort() | Limit():
            return _ordered(plan, releases, passed_on(plan))
        case missing:
            assert_never(missing)


def _aggregated(plan: Aggregate, releases: Mapping[Release, str]) -> exp.Select:
    below = CountsBelowJoin.of(plan)
    if below is not None:
        join = below.join
        return below.select(emit_plan(join.left, releases), emit_plan(join.right, releases))
    source, keys, own = plan.source, plan.keys, unit(plan.source)
    group = [scalar(key.expression) for key in keys]
    items = [*_named(keys)]
    guarded = may_seem_empty(source)
    items += [
        as_column(exact_aggregate(a.call, own, guarded=guarded), a.column) for a in plan.aggregates
    ]
    if own is not None:
        items.append(reference(own))
        group.append(reference(own))
    # Without keys there is one row, also where nothing is computed of it.
    select = _select_over(source, releases, items or [dummy_column(exp.Count(this=exp.Star()))])
    return select.group_by(*group, copy=False) if group else select


def _filtered(plan: Filter, releases: Mapping[Release, str]) -> exp.Select:
    """The rows that pass several filters, some of which may test the columns of mark joins.

    A mark join hands on each row as it is: what is asked of rows below it may be asked above.
    """
    below: Plan = plan
    predicates: list[Expression] = []
    mark_joins: list[MarkJoin] = []
    while isinstance(below, Filter | MarkJoin):
        if isinstance(below, MarkJoin):
            mark_joins.append(_without_needless_unit(below))
        elif mark_joins and not isinstance(below.source, Filter | MarkJoin):
            break  # it is a part of what is joined or scanned
        else:
            predicates += conjuncts(below.predicate)
        below = below.source
    rows = emit_plan(below, releases)
    tests: list[RowTest] = []
    for each in reversed(mark_joins):
        relation = emit_plan(each.relation, releases)
        answer = _answer(each, predicates)
        # The answers of one SELECT are no columns of its FROM yet.
        asks_answers = not columns(*each.on).isdisjoint(test.column for test, _, _ in tests)
        if tests and (answer is None or asks_answers):
            rows, tests = mark_join_rows(tests, rows), []
        if answer is None:
            rows = mark_join(each, rows, relation)
        else:
            tests.append((each, relation, answer))
    if tests:
        rows = mark_join_rows(tests, rows)
    if not predicates:
        return rows
    select = select_of(passed_on(plan.source), subquery(rows, "t"))
    return select.where(*map(scalar, predicates), copy=False)


def _answer(test: MarkJoin, predicates: list[Expression]) -> bool | None:
    """The answer that `predicates` ask of it, which loses this one; None if none of them does."""
    for answer, predicate in ((True, test.column), (False, Not(test.column))):
        if predicate in predicates:
            predicates.remove(predicate)
            return answer
    return None


def _without_needless_unit(plan: MarkJoin) -> MarkJoin:
    """`plan`, whose relation comes without its unit where the condition implies the same unit.

    The relation isn't read from a sidecar then, which has rows in the order of their units, not of
    their keys, unless they are compared by the unit itself: rows that a sidecar lacks have none,
    and NULL equals nothing. On a server what is stored may be of other times than what is looked
    up: there units are compared.
    """
    scans = (part for part in operators(plan) if isinstance(part, Scan))
    if any(scan.sidecar is SidecarAccess.ON_SERVER for scan in scans) or not is_same_unit(plan):
        return plan
    is_by_unit = not unit_valued_columns(plan.relation).isdisjoint(chain(*matched(plan.on)))

    def without_unit(part: Plan) -> Plan:
        if not isinstance(part, Scan):
            return part
        return replace(part, unit=None, sidecar=part.sidecar if is_by_unit else None)

    return replace(plan, relation=bottom_up(without_unit, plan.relation))


def _listed(plan: Values) -> exp.Select:
    """The rows that the statement itself lists, each of its columns' types."""
    if not plan.rows:
        typed = [as_column(constant(None, c.type), c) for c in plan.outputs]
        nothing = select_of(typed or [dummy_column()])
        return nothing.where(exp.false(), copy=False)
    rows = [
        exp.Tuple(
            expressions=[
                constant(value, column.type)
                for value, column in zip(row, plan.outputs, strict=True)
            ]
        )
        for row in plan.rows
    ]
    names = [exp.to_identifier(column_name(column)) for column in plan.outputs]
    alias = exp.TableAlias(this=exp.to_identifier("t"), columns=names)
    items = [reference(column) for column in plan.outputs]
    listed = exp.Values(expressions=rows, alias=alias)
    return select_of(items, listed)


def _sources(join: Join, releases: Mapping[Release, str]) -> list[exp.Select]:
    """The joined sources; a table whose owner is joined beside it comes without its unit."""
    owners = unit_sources(join)
    return [
        without_unit(source) if unit(source) in owners else emit_plan(source, releases)
        for source in join.sources
    ]


def _arm(
    source: Plan, outputs: tuple[Column, ...], own: Column | None, releases: Mapping[Release, str]
) -> exp.Select:
    """One source of a set operation: its columns by place, and its unit among them."""
    items = [
        as_column(reference(column), output)
        for column, output in zip(output_columns(source), outputs, strict=True)
    ]
    held = unit(source)
    if own is not None and held is not None:
        items.append(as_column(reference(held), own))
    return _select_over(source, releases, items)


def _select_over(
    source: Plan, releases: Mapping[Release, str], items: list[exp.Expr]
) -> exp.Select:
    return select_over(emit_plan(source, releases), items)


def _ordered(
    plan: Sort | Limit, releases: Mapping[Release, str], items: list[exp.Expr]
) -> exp.Select:
    limit = plan if isinstance(plan, Limit) else None
    below = plan.source if isinstance(plan, Limit) else plan
    by: tuple[SortKey, ...] = ()
    if isinstance(below, Sort):
        by, below = below.by, below.source
    select = _select_over(below, releases, items)
    if by:
        select = select.order_by(*map(sort_key, by), copy=False)
    if limit is not None and limit.count is not None:
        select = limit_rows(select, limit.count)
    if limit is not None and limit.offset:
        select = select.offset(limit.offset, copy=False)
    return select


def _computed(outputs: tuple[Output, ...], source: Plan) -> list[exp.Expr]:
    own = unit(source)
    carried = [] if own is None else [reference(own)]
    return [*_named(outputs), *carried] or [dummy_column()]


def _named(outputs: tuple[Output, ...]) -> list[exp.Expr]:
    return [as_column(scalar(output.expression), output.column) for output in outputs]
