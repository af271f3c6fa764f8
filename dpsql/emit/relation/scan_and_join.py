"""Tables and joins. Rows of private sources meet only where their units agree: SQL sees to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.lineage.key_equality import hop_keys, key_equalities
from dpsql.analysis.lineage.lineage import unit
from dpsql.emit.dialect.nodes import row_number, scalar, stored_column
from dpsql.emit.relation.resized_table import first_rows
from dpsql.emit.sql.clauses import JoinKind, joined, select_of
from dpsql.emit.sql.identifier import (
    as_column,
    column_name,
    column_ref,
    dummy_column,
    reference,
    schema_name,
    subquery,
)
from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR, UNIT_SCHEMA
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.plan.expression import Column
from dpsql.plan.operator import (
    Filter,
    Join,
    MarkJoin,
    OuterJoin,
    OuterKind,
    Plan,
    Scan,
    SidecarAccess,
)
from dpsql.plan.output_columns import output_columns
from dpsql.schema.model import EntityUnit, Public, RowUnit, Table
from dpsql.schema.sidecar_columns import lent_unit_column
from dpsql.structs import replace


def scan(plan: Scan) -> exp.Select:
    """A table: rows without a unit are dropped, units over hops are looked up on base tables."""
    table = plan.table
    base: exp.Expr = _table(plan, "t")
    items: list[exp.Expr] = [as_column(_read(c, table), c) for c in plan.columns]
    if table.resized is not None:
        rows = first_rows(
            select_of(items or [dummy_column()], base),
            [column_name(c) for c in plan.columns],
            table.resized,
        )
        items = [reference(c) for c in plan.columns]
        base = subquery(rows, "t")
    if plan.unit is None:
        return select_of(items or [dummy_column()], base)
    if plan.sidecar is not None:
        owner = stored_column(column_ref(schema_name(UNIT_COLUMN), table="t"), plan.unit.type)
        return select_of([*items, as_column(owner, plan.unit)], base)
    match table.ownership:
        case Public():
            raise ValueError("a public table has no unit")
        case RowUnit():
            return select_of([*items, as_column(row_number(), plan.unit)], base)
        case EntityUnit(hops=hops, column=column):
            select = select_of([], base)
            alias = "t"
            for number, hop in enumerate(hops):
                parent = f"p{number}"
                equal = (
                    exp.EQ(
                        this=column_ref(schema_name(name), table=alias),
                        expression=column_ref(schema_name(key), table=parent),
                    )
                    for name, key in hop.pairs
                )
                of_parent = exp.Table(
                    this=schema_name(hop.table),
                    alias=exp.TableAlias(this=exp.to_identifier(parent)),
                )
                joined(select, of_parent, "INNER", exp.and_(*equal, copy=False))
                alias = parent
            owner = stored_column(column_ref(schema_name(column), table=alias), plan.unit.type)
            return select.select(*items, as_column(owner, plan.unit), copy=False).where(
                exp.Not(this=exp.Is(this=owner.copy(), expression=exp.null())), copy=False
            )
        case missing:
            assert_never(missing)


def _read(column: Column, table: Table) -> exp.Expr:
    value = column_ref(schema_name(column.name), table="t")
    return stored_column(value, column.type, is_saved=table.saved_entry is not None)


def inner_join(join: Join, rows: Sequence[exp.Select]) -> exp.Select:
    """All sources side by side; private ones agree on the unit, whatever their keys say."""
    owners = unit_sources(join)
    own = unit(join)
    items: list[exp.Expr] = [reference(c) for c in output_columns(join)]
    if own is not None:
        items.append(as_column(reference(_root(own, owners)), own))
    select = select_of(items or [dummy_column()])
    for number, source in enumerate(rows):
        derived = subquery(source, f"t{number}")
        if number == 0:
            select.from_(derived, copy=False)
        else:
            joined(select, derived, "CROSS")
    conditions = [scalar(p) for p in join.on]
    roots = [u for u in map(unit, join.sources) if u is not None and u not in owners]
    conditions += [
        exp.EQ(this=reference(roots[0]), expression=reference(other))
        for other in roots[1:]
        if not _is_equated(join, roots[0], other)
    ]
    return select.where(*conditions, copy=False) if conditions else select


def unit_sources(join: Join) -> dict[Column, Column]:
    """Units of sources whose owner is joined beside them, and that owner's unit.

    lineitem ⋈ orders ON l_orderkey = o_orderkey: the order's customer is the line's, so looking it
    up again on the base table would only join orders twice.

    Where either is stored on a server it isn't so: the order may have another customer by now. Then
    each has its own unit, and they have to agree.
    """
    owners: dict[Column, Column] = {}
    tables = [table for table in map(_scanned, join.sources) if table is not None]
    for source in tables:
        if source.unit is None or source.sidecar is SidecarAccess.ON_SERVER:
            continue
        ownership = source.table.ownership
        if not isinstance(ownership, EntityUnit) or not ownership.hops:
            continue
        hop = ownership.hops[0]
        for parent in tables:
            is_stored = parent.sidecar is SidecarAccess.ON_SERVER
            if parent.unit is not None and not is_stored and hop_keys(join.on, source, hop, parent):
                owners[source.unit] = parent.unit
                break
    return owners


def _is_equated(join: Join, own: Column, other: Column) -> bool:
    """The statement itself equates the columns whose values these units are.

    orders ⋈ customer ON o_custkey = c_custkey: with the same condition twice, DuckDB would look
    rows up by two columns.
    """
    scans = [scan for scan in map(_scanned, join.sources) if scan is not None]
    return any(
        a.unit == own and b.unit == other and key_equalities(join.on, a, a_name, b, b_name)
        for a in scans
        for b in scans
        for a_name, b_name in [(_own_column(a), _own_column(b))]
        if a_name is not None and b_name is not None
    )


def _own_column(plan: Scan) -> str | None:
    """The column whose value is the row's unit, where nothing has to be looked up."""
    own = plan.table.ownership
    if not isinstance(own, EntityUnit):
        return None
    if not own.hops:
        return own.column
    return None if plan.sidecar is None else lent_unit_column(plan.table)


def _scanned(source: Plan) -> Scan | None:
    """The table that a source of a join reads, all of it or a part."""
    match source:
        case Scan():
            return source
        case Filter(source=Scan() as table):
            return table
        case _:
            return None


def _root(column: Column, sources: Mapping[Column, Column]) -> Column:
    while column in sources:
        column = sources[column]
    return column


def without_unit(source: Plan) -> exp.Select:
    """A table without its unit, which the join takes from its owner.

    The source's own table is read: a sidecar has its rows in the order of their units, not of their
    keys. Columns that only a sidecar has are read there.
    """
    match source:
        case Scan(columns=columns):
            items = [
                as_column(stored_column(column_ref(schema_name(c.name)), c.type), c)
                for c in columns
            ]
            table = (
                replace(source, sidecar=None) if source.sidecar is SidecarAccess.ROWS else source
            )
            base = _table(table, None)
            return select_of(items or [dummy_column()], base)
        case Filter(source=below, predicate=predicate):
            items = [reference(c) for c in output_columns(below)]
            select = select_of(items, subquery(without_unit(below), "t"))
            return select.where(scalar(predicate), copy=False)
        case _:
            raise TypeError("only a table's unit is taken from its owner")


def _table(plan: Scan, alias: str | None) -> exp.Table:
    """A table of the source, or the same in the sidecar."""
    where: dict[str, exp.Identifier] = {}
    if plan.sidecar is not None:
        group = UNIT_SCHEMA if plan.sidecar is SidecarAccess.UNITS else ROW_SCHEMA
        where = {"db": schema_name(group), "catalog": schema_name(SIDECAR)}
    shown = None if alias is None else exp.TableAlias(this=exp.to_identifier(alias))
    return exp.Table(this=schema_name(plan.table.engine_name), alias=shown, **where)


_SIDES: Final[dict[OuterKind, JoinKind]] = {OuterKind.LEFT: "LEFT", OuterKind.FULL: "FULL"}
"""Of joins that are emitted: one that keeps public rows is of released rows by then."""


def outer_join(join: OuterJoin, left: exp.Select, right: exp.Select) -> exp.Select:
    """A row without a partner of its own unit stands beside NULLs and keeps its unit."""
    ours, theirs = unit(join.left), unit(join.right)
    items: list[exp.Expr] = [reference(c) for c in output_columns(join)]
    if join.unit is not None and ours is not None:
        owner: exp.Expr = reference(ours)
        if join.kind is OuterKind.FULL and theirs is not None:
            owner = exp.Coalesce(this=owner, expressions=[reference(theirs)])
        items.append(as_column(owner, join.unit))
    conditions = [scalar(p) for p in join.on] + _same_unit(ours, theirs)
    return joined(
        select_of(items or [dummy_column()], subquery(left, "t0")),
        subquery(right, "t1"),
        _SIDES[join.kind],
        exp.and_(*(conditions or [exp.true()]), copy=False),
    )


def mark_join(plan: MarkJoin, source: exp.Select, relation: exp.Select) -> exp.Select:
    """Each row with the answer to EXISTS; private rows are searched only among its own unit's."""
    items = [*passed_on(plan.source), as_column(_exists(plan, relation), plan.column)]
    return select_of(items, subquery(source, "t0"))


RowTest = tuple[MarkJoin, exp.Select, bool]
"""A mark join, the rows that it searches, and the answer that is asked for."""


def mark_join_rows(tests: Sequence[RowTest], source: exp.Select) -> exp.Select:
    """The rows of `source` of which each of `tests`, the lowest first, has its answer.

    EXISTS stands in WHERE: as a column, DuckDB computes it for each of `source`'s rows by a table
    of all of the searched ones. It chooses an order among joins of one WHERE. Nested SELECTs
    leave it none: of TPC-H's Q21, which asks first what nearly all late lines pass, orders were
    joined before either, and 76,000 lines went through both.
    """
    answers = [as_column(exp.Boolean(this=answer), test.column) for test, _, answer in tests]
    conditions: list[exp.Expr] = []
    for test, searched, answer in tests:
        exists = _exists(test, searched)
        conditions.append(exists if answer else exp.Not(this=exists))
    rows = select_of([*passed_on(tests[0][0].source), *answers], subquery(source, "t0"))
    return rows.where(*conditions, copy=False)


def passed_on(source: Plan) -> list[exp.Expr]:
    """The columns of `source`, and its unit."""
    own = unit(source)
    columns = (*output_columns(source), *(() if own is None else (own,)))
    return [*map(reference, columns)] or [dummy_column()]


def _exists(plan: MarkJoin, relation: exp.Select) -> exp.Expr:
    conditions = [scalar(p) for p in plan.on]
    conditions += _same_unit(unit(plan.source), unit(plan.relation))
    rows = select_of([exp.Literal.number(1)], subquery(relation, "t1"))
    return exp.Exists(this=rows.where(*conditions, copy=False) if conditions else rows)


def _same_unit(ours: Column | None, theirs: Column | None) -> list[exp.Expr]:
    if ours is None or theirs is None:
        return []
    return [exp.EQ(this=reference(ours), expression=reference(theirs))]
