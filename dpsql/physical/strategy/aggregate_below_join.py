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

| level    | one row per              | columns                                       |
| -------- | ------------------------ | --------------------------------------------- |
| sums     | unit                     | the number and the sums of its rows in the one table |
| joined   | row of the join of those | the same, and what the keys read of the others |
| partials | unit and group           | the number and the sums of all joined rows     |
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.functional_dependency import is_n_to_one
from dpsql.analysis.lineage.lineage import unit
from dpsql.analysis.lineage.unit_identity import unit_columns
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.public_facts import Facts
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.relation.scan_and_join import inner_join
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.release.contributions import emit_contributions, grouped, grouped_names, select_from
from dpsql.emit.release.limited_sums import limited_totals, unit_sums
from dpsql.emit.sql.identifier import as_column, column_ref, with_alias
from dpsql.physical.cost import GROUP_BY_UNIT, JOIN, READ, UNITS_PER_ROW, cost_of_choice
from dpsql.physical.emission import Emission
from dpsql.plan.bounded_release.bounded_release import (
    ByStoredRank,
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.bounded_release.column_names import UNIT
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, Join, Scan
from dpsql.plan.traversal import columns, expressions
from dpsql.schema.model import EntityUnit
from dpsql.schema.sidecar_columns import has_one_row_per_unit
from dpsql.structs import replace


class AggregateBelowJoin(Struct, frozen=True):
    """Sum the most numerous `rows` of a join for each unit, before they meet the others' rows.

    In `join` their sums stand where `units` is read, which has no columns but the rows' unit. If
    `is_n_to_one`, verified keys prove that a unit's sums meet one row of the others at most: they
    are its partials already.
    """

    limited: LimitGroups
    rows: Scan | Filter
    join: Join
    units: Scan
    is_n_to_one: bool

    is_blocking: ClassVar = False

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:
        """The plan, where one table has all that is summed, and is joined by its unit alone."""
        if not isinstance(limited, LimitGroups) or isinstance(limited.limit, ByStoredRank):
            return None
        terms = limited.contributions
        join = terms.source.source if isinstance(terms.source, Filter) else terms.source
        if not isinstance(join, Join) or not terms.statistics:
            return None
        scan = _highest_fanout_rows(terms, join)
        if scan is None:
            return None
        others = [source for source in join.sources if source is not scan]
        # What is left out of the others is left out of the rows too, if they are joined first.
        if not all(isinstance(other, Scan) for other in others):
            return None
        own, units = frozenset(scan.columns), _unit_identifier(scan)
        read_above = columns(*join.on, *(key.expression for key in terms.keys)) & own
        if (
            units is None
            or not read_above <= units
            or not columns(*expressions(terms.statistics)) <= own
        ):
            return None
        rows: Scan | Filter = scan
        if isinstance(terms.source, Filter):
            rows = Filter(scan, terms.source.predicate)
            if not columns(rows.predicate) <= own:
                return None
        known = replace(scan, columns=tuple(sorted(read_above, key=lambda column: column.id)))
        narrow = replace(join, sources=tuple(known if s is scan else s for s in join.sources))
        proved = is_n_to_one(read_above, others, join.on, facts.verified)
        return cls(limited, rows, narrow, known, proved)

    def estimate(self) -> Fraction:
        """In passes over the rows: what is joined is sums of units, of which there are fewer."""
        joined = JOIN * (len(self.join.sources) - 1)
        again = Fraction(0) if self.is_n_to_one else GROUP_BY_UNIT
        by_unit = GROUP_BY_UNIT / 2  # no groups of a unit are told apart
        few = UNITS_PER_ROW * (joined + again + cost_of_choice(self.limited.limit))
        return READ + by_unit + few

    @property
    def note(self) -> str:
        """What an analyst is told."""
        name = highest_fanout_table(self.limited.contributions).display_name
        return f"{name}: summed for each unit before it is joined"

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        return limited_totals(self.limited, self._unit_group_sums(emission), emission.late)

    def _unit_group_sums(self, emission: Emission) -> exp.Select:
        """Each unit's sums in each group."""
        terms, late = self.limited.contributions, emission.late
        sums, own = unit_sums(terms), unit(self.rows)
        if own is None:
            raise ValueError("rows that are summed below a join are private")
        rows = emit_contributions(
            Contributions(self.rows, (), (), terms.statistics), emission.releases, with_unit=True
        )
        items = [with_alias(item, name) for name, item in sums.items()]
        summed = grouped(rows, [column_ref(UNIT)], items)
        known = [as_column(column_ref(UNIT), column) for column in (own, *self.units.columns)]
        carried = [column_ref(name) for name in sums]
        joined = inner_join(
            self.join,
            [
                select_from(summed, [*known, *carried])
                if source is self.units
                else emit_plan(source, emission.releases)
                for source in self.join.sources
            ],
        ).select(*(c.copy() for c in carried), copy=False)
        groups = replace(terms, source=self.join, statistics=(), cell_choices=())
        met = emit_contributions(
            groups,
            emission.releases,
            with_unit=True,
            late=late,
            rows=joined,
            extra=tuple(sums),
        )
        if self.is_n_to_one:
            return met
        by = [column_ref(name) for name in (UNIT, *grouped_names(terms, late))]
        return grouped(met, by, [with_alias(sum_of(column_ref(name)), name) for name in sums])


def _highest_fanout_rows(contributions: Contributions, join: Join) -> Scan | None:
    """The one source that reads the private table of which a unit has most rows."""
    table = highest_fanout_table(contributions)
    scans = [s for s in join.sources if isinstance(s, Scan) and s.table.name == table.name]
    (scan,) = scans if len(scans) == 1 else (None,)
    return None if scan is None or scan.sidecar or scan.unit is None else scan


def _unit_identifier(scan: Scan) -> frozenset[Column] | None:
    """The columns that are the rows' unit themselves; None if that isn't one, or has one row."""
    own = scan.table.ownership
    if not isinstance(own, EntityUnit) or own.hops or has_one_row_per_unit(scan.table):
        return None
    return unit_columns(scan)
