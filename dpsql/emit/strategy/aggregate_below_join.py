"""Partial sums of a join whose rows are summed for each unit first.

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
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.release.contributions import emit_contributions, grouped, grouped_names, select_from
from dpsql.emit.sql.identifier import as_column, column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import AggregateBelowJoin, Contributions
from dpsql.plan.operator import Release


def aggregate_below_join(
    contributions: Contributions,
    plan: AggregateBelowJoin,
    releases: Mapping[Release, str],
    late: frozenset[int],
    sums: Mapping[str, exp.Expr],
) -> exp.Select:
    """Unit, groups and `sums`, which are of rows' terms, under their names."""
    own = unit(plan.rows)
    if own is None:
        raise ValueError("rows that are summed early are private")
    rows = emit_contributions(
        Contributions(plan.rows, (), (), contributions.statistics), releases, with_unit=True
    )
    summed = grouped(
        rows, [column_ref("u")], [with_alias(item, name) for name, item in sums.items()]
    )
    known = [as_column(column_ref("u"), column) for column in (own, *plan.units.columns)]
    carried = [column_ref(name) for name in sums]
    joined = inner_join(
        plan.join,
        [
            select_from(summed, [*known, *carried])
            if source is plan.units
            else emit_plan(source, releases)
            for source in plan.join.sources
        ],
    ).select(*(c.copy() for c in carried), copy=False)
    groups = replace(contributions, source=plan.join, statistics=(), cell_choices=())
    met = emit_contributions(
        groups, releases, with_unit=True, late=late, rows=joined, extra=tuple(sums)
    )
    if plan.is_n_to_one:
        return met
    by = [column_ref(name) for name in ("u", *grouped_names(contributions, late))]
    return grouped(met, by, [with_alias(sum_of(column_ref(name)), name) for name in sums])
