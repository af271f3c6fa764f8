"""A sidecar's rows are joined by their unit directly, without the tables that lead to it.

sum(l_quantity) by c_mktsegment from lineitem ⋈ orders ⋈ customer

lineitem, each row with the unit that its order leads to ⋈ customer on that unit

That loses no row and adds none where the rows are those of a sidecar: each of them has a unit, so
that its order was found, by a key that was verified, and names that unit. So an order may be left
out of a join if it meets its lines by that very key, and nothing else is read of it than its unit.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dpsql.analysis.lineage.key_equality import hop_keys
from dpsql.analysis.lineage.unit_identity import unit_columns
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.expression import Column, Expression, conjunction
from dpsql.plan.operator import Filter, Join, Plan, Project, Scan
from dpsql.plan.traversal import bottom_up, columns, expressions, operators, sources
from dpsql.schema.model import EntityUnit, Hop
from dpsql.schema.sidecar_columns import lent_unit_column
from dpsql.structs import replace


class OwnerJoinElimination(Struct, frozen=True):
    """`contributions` over `scan`, whose columns `units` are the rows' unit.

    `eliminated_tables` are the names of the tables that are no longer read.
    """

    contributions: Contributions
    scan: Scan
    units: frozenset[Column]
    eliminated_tables: tuple[str, ...] = ()

    @property
    def reads_unit_only(self) -> bool:
        """Group keys, joins and filters read no column of the rows but those of their unit."""
        read = _columns_read(self.contributions, self.scan)
        return read is not None and not read & {*self.scan.columns} - self.units


def eliminate_owner_joins(contributions: Contributions, scan: Scan) -> OwnerJoinElimination:
    """`contributions` without the tables from `scan` to its unit, if they needn't be read."""
    own = scan.table.ownership
    as_it_is = OwnerJoinElimination(contributions, scan, unit_columns(scan))
    if not isinstance(own, EntityUnit) or not own.hops:
        return as_it_is
    joins = [
        p for p in operators(contributions.source) if isinstance(p, Join) and scan in p.sources
    ]
    parents = [parent for join in joins for parent in _parents(join, scan, own.hops)]
    if not joins or len(parents) < len(own.hops) or lent_unit_column(scan.table) is None:
        return as_it_is
    eliminated = _without_parents(contributions, scan, joins[0], parents, own.hops)
    read = _columns_read(
        eliminated.contributions,
        eliminated.scan,
        *expressions((contributions.statistics, contributions.cell_choices)),
    )
    gone = frozenset(c for parent in parents for c in parent.columns)
    return as_it_is if read is None or read & gone - eliminated.units else eliminated


def _parents(join: Join, scan: Scan, hops: tuple[Hop, ...]) -> Iterator[Scan]:
    """The tables that lead to the unit, as far as each is joined by its key."""
    child = scan
    for hop in hops:
        met = [s for s in join.sources if isinstance(s, Scan) and hop_keys(join.on, child, hop, s)]
        if len(met) != 1:
            return
        (child,) = met
        yield child


def _without_parents(
    contributions: Contributions, scan: Scan, join: Join, parents: list[Scan], hops: tuple[Hop, ...]
) -> OwnerJoinElimination:
    """Without `parents` in `join`: the rows' own unit stands in the place of the last one's."""
    units = unit_columns(parents[-1])
    wide = replace(scan, columns=(*scan.columns, *sorted(units, key=lambda c: c.id)))
    children = (scan, *parents)
    met = [
        condition
        for child, hop, parent in zip(children, hops, parents, strict=False)
        for condition in hop_keys(join.on, child, hop, parent)
    ]
    sources = tuple(wide if s == scan else s for s in join.sources if s not in parents)
    less = replace(join, sources=sources, on=tuple(c for c in join.on if c not in met))
    alone = Filter(wide, conjunction(less.on)) if less.on else wide
    joined: Plan = less if len(sources) > 1 else alone

    def changed(plan: Plan) -> Plan:
        return joined if plan == join else plan

    changed_rows = replace(contributions, source=bottom_up(changed, contributions.source))
    names = tuple(parent.table.name for parent in parents)
    return OwnerJoinElimination(changed_rows, wide, units, names)


def _columns_read(
    contributions: Contributions, scan: Scan, *more: Expression
) -> frozenset[Column] | None:
    """The tables' columns that groups, conditions and `more` read, here or below.

    None if it isn't known.
    """
    of: dict[Column, Column] = {}
    read: set[Column] = set()
    for operator in reversed(list(_operators_above(contributions.source, scan))):
        match operator:
            case Filter(predicate=predicate):
                read |= {of.get(c, c) for c in columns(predicate)}
            case Join(on=on):
                read |= {of.get(c, c) for c in columns(*on)}
            case Project(outputs=outputs):
                computed = (o.expression for o in outputs if not isinstance(o.expression, Column))
                read |= {of.get(c, c) for c in columns(*computed)}
                passed = {
                    o.column: o.expression for o in outputs if isinstance(o.expression, Column)
                }
                of |= {column: of.get(below, below) for column, below in passed.items()}
            case _:
                return None
    keys, filters = (
        (k.expression for k in contributions.keys),
        (s.filter for s in contributions.statistics),
    )
    return frozenset({*read, *(of.get(c, c) for c in columns(*keys, *filters, *more))})


def _operators_above(plan: Plan, scan: Scan) -> Iterator[Plan]:
    """The operators above `scan`, from the top."""
    while plan != scan:
        yield plan
        (plan,) = (source for source in sources(plan) if scan in operators(source))
