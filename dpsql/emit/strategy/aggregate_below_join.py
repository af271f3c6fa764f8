"""Partials of a join whose rows are summed for each unit first.

| level    | one row per             | columns                                       |
| -------- | ----------------------- | --------------------------------------------- |
| sums     | unit                    | n, s0 … of its rows in the one table           |
| joined   | row of the join of those | the same, and what the keys read of the others |
| partials | unit and group          | n, s0 … of all joined rows                     |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dpsql.analysis.lineage.lineage import unit
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.relation.scan_and_join import inner_join
from dpsql.emit.release.contribution import total
from dpsql.emit.release.contributions import emit_terms, grouped, grouped_names, select_from
from dpsql.emit.sql.identifier import aliased, field, named
from dpsql.plan.bounded_release.bounded_release import Early, Terms
from dpsql.plan.operator import Release


def early_partials(
    terms: Terms,
    early: Early,
    releases: Mapping[Release, str],
    late: frozenset[int],
    sums: Mapping[str, exp.Expr],
) -> exp.Select:
    """Unit, groups and `sums`, which are of rows' terms, under their names."""
    own = unit(early.rows)
    if own is None:
        raise ValueError("rows that are summed early are private")
    rows = emit_terms(Terms(early.rows, (), (), terms.statistics), releases, with_unit=True)
    summed = grouped(rows, [field("u")], [aliased(item, name) for name, item in sums.items()])
    known = [named(field("u"), column) for column in (own, *early.units.columns)]
    carried = [field(name) for name in sums]
    joined = inner_join(
        early.join,
        [
            select_from(summed, [*known, *carried])
            if source is early.units
            else emit_plan(source, releases)
            for source in early.join.sources
        ],
    ).select(*(c.copy() for c in carried), copy=False)
    groups = replace(terms, source=early.join, statistics=(), selections=())
    met = emit_terms(groups, releases, with_unit=True, late=late, rows=joined, handed=tuple(sums))
    if early.meets_one:
        return met
    by = [field(name) for name in ("u", *grouped_names(terms, late))]
    return grouped(met, by, [aliased(total(field(name)), name) for name in sums])
