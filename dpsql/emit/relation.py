"""Operators as SELECTs. Every SELECT of private rows hands on the unit beside its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from sqlglot import exp

from dpsql.emit.call import try_cast
from dpsql.emit.expression import emit_expression
from dpsql.emit.name import column_name, reference, schema_name, subquery
from dpsql.plan.columns import output_columns
from dpsql.plan.expression import Column, Compare, Comparison, Expression
from dpsql.plan.operator import (
    Aggregate,
    AggregateCall,
    Filter,
    Join,
    Limit,
    Output,
    Plan,
    Project,
    Release,
    Scan,
    Sort,
    SortKey,
)
from dpsql.schema.model import EntityUnit, Public, RowUnit
from dpsql.stability.lineage import unit


def emit_plan(plan: Plan, releases: Mapping[Release, str]) -> exp.Select:
    """`plan` over the engine's tables and, by name, over released ones."""
    match plan:
        case Scan():
            return _scan(plan)
        case Filter(source=Join() as join, predicate=predicate):
            return _join(join, releases).where(emit_expression(predicate), copy=False)
        case Filter(source=source, predicate=predicate):
            return _over(source, releases, _passed_on(source)).where(
                emit_expression(predicate), copy=False
            )
        case Project(source=Sort() | Limit() as source, outputs=outputs):
            # One SELECT computes and orders: the order of a derived table is nobody's promise.
            return _ordered(source, releases, _computed(outputs, source))
        case Project(source=source, outputs=outputs):
            return _over(source, releases, _computed(outputs, source))
        case Join():
            return _join(plan, releases)
        case Aggregate(source=source, keys=keys, aggregates=aggregates):
            own = unit(source)
            group = [emit_expression(key.expression) for key in keys]
            items = [*_named(keys)]
            items += [_as(_aggregate(a.call), a.column) for a in aggregates]
            if own is not None:
                items.append(reference(own))
                group.append(reference(own))
            select = _over(source, releases, items)
            return select.group_by(*group, copy=False) if group else select
        case Release():
            # Arrow has no HUGEINT: the columns come as what holds them, and are what they were.
            items = [_as(try_cast(reference(c), c.type), c) for c in output_columns(plan)]
            return exp.select(*items, copy=False).from_(exp.to_table(releases[plan]), copy=False)
        case Sort() | Limit():
            return _ordered(plan, releases, _passed_on(plan))
        case missing:
            assert_never(missing)


def _over(source: Plan, releases: Mapping[Release, str], items: list[exp.Expr]) -> exp.Select:
    below = subquery(emit_plan(source, releases), "t")
    return exp.select(*items, copy=False).from_(below, copy=False)


def _ordered(
    plan: Sort | Limit, releases: Mapping[Release, str], items: list[exp.Expr]
) -> exp.Select:
    limit = plan if isinstance(plan, Limit) else None
    below = plan.source if isinstance(plan, Limit) else plan
    by: tuple[SortKey, ...] = ()
    if isinstance(below, Sort):
        by, below = below.by, below.source
    select = _over(below, releases, items)
    if by:
        select = select.order_by(*map(_sort_key, by), copy=False)
    if limit is not None and limit.count is not None:
        select = select.limit(limit.count, copy=False)
    if limit is not None and limit.offset:
        select = select.offset(limit.offset, copy=False)
    return select


def _sort_key(key: SortKey) -> exp.Expr:
    return exp.Ordered(
        this=emit_expression(key.expression), desc=key.descending, nulls_first=key.nulls_first
    )


def _scan(scan: Scan) -> exp.Select:
    """A table: rows without a unit are dropped, units over hops are looked up on base tables."""
    table = scan.table
    base = exp.Table(
        this=schema_name(table.name), alias=exp.TableAlias(this=exp.to_identifier("t"))
    )
    items = [_as(exp.column(schema_name(c.name), table="t"), c) for c in scan.columns]
    if scan.unit is None:
        return exp.select(*(items or [_nothing()]), copy=False).from_(base, copy=False)
    match table.ownership:
        case Public():
            raise ValueError("a public table has no unit")
        case RowUnit():
            row = exp.Window(this=exp.Anonymous(this="row_number", expressions=[]))
            return exp.select(*items, _as(row, scan.unit), copy=False).from_(base, copy=False)
        case EntityUnit(hops=hops, column=column):
            select = exp.select(copy=False).from_(base, copy=False)
            alias = "t"
            for number, hop in enumerate(hops):
                parent = f"p{number}"
                select = select.join(
                    exp.Table(
                        this=schema_name(hop.table),
                        alias=exp.TableAlias(this=exp.to_identifier(parent)),
                    ),
                    on=exp.EQ(
                        this=exp.column(schema_name(hop.column), table=alias),
                        expression=exp.column(schema_name(hop.key), table=parent),
                    ),
                    copy=False,
                )
                alias = parent
            owner = exp.column(schema_name(column), table=alias)
            return select.select(*items, _as(owner, scan.unit), copy=False).where(
                exp.Not(this=exp.Is(this=owner.copy(), expression=exp.null())), copy=False
            )
        case missing:
            assert_never(missing)


def _join(join: Join, releases: Mapping[Release, str]) -> exp.Select:
    """All sources side by side; private ones agree on the unit, whatever their keys say."""
    owners = _owners(join)
    own = unit(join)
    items: list[exp.Expr] = [reference(c) for c in output_columns(join)]
    if own is not None:
        items.append(_as(reference(_root(own, owners)), own))
    select = exp.select(*(items or [_nothing()]), copy=False)
    for number, source in enumerate(join.sources):
        rows = _unowned(source) if unit(source) in owners else emit_plan(source, releases)
        derived = subquery(rows, f"t{number}")
        select = (
            select.from_(derived, copy=False)
            if number == 0
            else select.join(derived, join_type="cross", copy=False)
        )
    conditions = [emit_expression(p) for p in join.on]
    roots = [u for u in map(unit, join.sources) if u is not None and u not in owners]
    conditions += [
        exp.EQ(this=reference(roots[0]), expression=reference(other)) for other in roots[1:]
    ]
    return select.where(*conditions, copy=False) if conditions else select


def _owners(join: Join) -> dict[Column, Column]:
    """Units of sources whose owner is joined beside them, and that owner's unit.

    lineitem ⋈ orders ON l_orderkey = o_orderkey: the order's customer is the line's, so looking it
    up again on the base table would only join orders twice.
    """
    found: dict[Column, Column] = {}
    for source in join.sources:
        if not isinstance(source, Scan) or source.unit is None:
            continue
        ownership = source.table.ownership
        if not isinstance(ownership, EntityUnit) or not ownership.hops:
            continue
        hop = ownership.hops[0]
        for parent in join.sources:
            if (
                isinstance(parent, Scan)
                and parent.unit is not None
                and parent.table.name == hop.table
                and _equated(join.on, source, hop.column, parent, hop.key)
            ):
                found[source.unit] = parent.unit
                break
    return found


def _root(column: Column, owners: Mapping[Column, Column]) -> Column:
    while column in owners:
        column = owners[column]
    return column


def _equated(
    on: tuple[Expression, ...], left: Scan, left_name: str, right: Scan, right_name: str
) -> bool:
    wanted = {
        frozenset((a, b))
        for a in left.columns
        if a.name == left_name
        for b in right.columns
        if b.name == right_name
    }
    return any(
        isinstance(p, Compare)
        and p.op is Comparison.EQUAL
        and isinstance(p.left, Column)
        and isinstance(p.right, Column)
        and frozenset((p.left, p.right)) in wanted
        for p in on
    )


def _unowned(source: Plan) -> exp.Select:
    """A table without its unit, which the join takes from its owner."""
    if not isinstance(source, Scan):
        raise TypeError("only a table's unit is taken from its owner")
    items = [_as(exp.column(schema_name(c.name)), c) for c in source.columns]
    return exp.select(*(items or [_nothing()]), copy=False).from_(
        exp.Table(this=schema_name(source.table.name)), copy=False
    )


def _aggregate(call: AggregateCall) -> exp.Expr:
    """An exact aggregate, of public or released rows or of one unit's."""
    argument: exp.Expr = exp.Star() if call.argument is None else emit_expression(call.argument)
    if call.distinct:
        argument = exp.Distinct(expressions=[argument])
    rendered: exp.Expr = exp.Anonymous(this=call.function.value, expressions=[argument])
    if call.filter is not None:
        rendered = exp.Filter(
            this=rendered, expression=exp.Where(this=emit_expression(call.filter))
        )
    return rendered


def _computed(outputs: tuple[Output, ...], source: Plan) -> list[exp.Expr]:
    own = unit(source)
    carried = [] if own is None else [reference(own)]
    return [*_named(outputs), *carried] or [_nothing()]


def _passed_on(source: Plan) -> list[exp.Expr]:
    own = unit(source)
    items: list[exp.Expr] = [reference(c) for c in output_columns(source)]
    if own is not None:
        items.append(reference(own))
    return items or [_nothing()]


def _named(outputs: tuple[Output, ...]) -> list[exp.Expr]:
    return [_as(emit_expression(output.expression), output.column) for output in outputs]


def _as(expression: exp.Expr, column: Column) -> exp.Expr:
    return exp.alias_(expression, column_name(column), copy=False)


def _nothing() -> exp.Expr:
    """A relation without columns still has rows."""
    return exp.alias_(exp.Literal.number("1"), "nothing")
