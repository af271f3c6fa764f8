"""Rows of a join are summed for each unit before they meet the others: Σ over pairs is Σ of Σ.

If what is summed is of one table, and the join and the keys ask for nothing of it but the unit, all
of a unit's rows there meet the same rows of the others, each of which would get the same sum:

count, sum(o_totalprice) by c_mktsegment from orders ⋈ customer

orders                               GROUP BY unit: n, sums of clamped terms
⋈ customer                           on the unit: each customer with them
GROUP BY unit, segment               again, unless verified keys say that a unit meets one row
clamp, limit; GROUP BY segment       as without

No key has to hold for the integers to be the same, since they are summed again before any limit.
Without that, one patient entered twice, in the same city, would count for two patients: each row
would bring the unit's sums, clamped apart. So the second GROUP BY is left out only where keys are
verified, as limits are; a declared key doesn't do.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.analysis.lineage.functional_dependency import is_n_to_one
from dpsql.analysis.lineage.unit_identity import unit_columns
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.public_facts import Facts
from dpsql.plan.bounded_release.bounded_release import (
    AggregateBelowJoin,
    Contributions,
    ExplainedPlan,
    LimitGroups,
)
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, Join, Scan
from dpsql.plan.traversal import columns, expressions
from dpsql.schema.model import EntityUnit
from dpsql.schema.sidecar_columns import has_one_row_per_unit


def aggregate_below_join(limited: LimitGroups, facts: Facts) -> ExplainedPlan | None:
    """The rows summed below the join, where the statement and the schema allow."""
    terms = limited.contributions
    join = terms.source.source if isinstance(terms.source, Filter) else terms.source
    if not isinstance(join, Join) or not terms.statistics:
        return None
    found = _below_join(terms, join, facts)
    if found is None:
        return None
    return (
        found,
        f"{highest_fanout_table(terms).display_name}: summed for each unit before it is joined",
    )


def _below_join(
    contributions: Contributions, join: Join, facts: Facts
) -> AggregateBelowJoin | None:
    scan = _highest_fanout_rows(contributions, join)
    if scan is None:
        return None
    others = [source for source in join.sources if source is not scan]
    # What is left out of the others is left out of the rows too, if they are joined first.
    if not all(isinstance(other, Scan) for other in others):
        return None
    theirs, units = frozenset(scan.columns), _units(scan)
    asked = columns(*join.on, *(key.expression for key in contributions.keys)) & theirs
    if (
        units is None
        or not asked <= units
        or not columns(*expressions(contributions.statistics)) <= theirs
    ):
        return None
    rows: Scan | Filter = scan
    if isinstance(contributions.source, Filter):
        rows = Filter(scan, contributions.source.predicate)
        if not columns(rows.predicate) <= theirs:
            return None
    known = replace(scan, columns=tuple(sorted(asked, key=lambda column: column.id)))
    narrow = replace(join, sources=tuple(known if s is scan else s for s in join.sources))
    return AggregateBelowJoin(
        rows, narrow, known, is_n_to_one(asked, others, join.on, facts.verified)
    )


def _highest_fanout_rows(contributions: Contributions, join: Join) -> Scan | None:
    """The one source that reads the private table of which a unit has most rows."""
    table = highest_fanout_table(contributions)
    found = [s for s in join.sources if isinstance(s, Scan) and s.table.name == table.name]
    (scan,) = found if len(found) == 1 else (None,)
    return None if scan is None or scan.sidecar or scan.unit is None else scan


def _units(scan: Scan) -> frozenset[Column] | None:
    """The columns that are the rows' unit themselves; None if that isn't one, or has one row."""
    own = scan.table.ownership
    if not isinstance(own, EntityUnit) or own.hops or has_one_row_per_unit(scan.table):
        return None
    return unit_columns(scan)
