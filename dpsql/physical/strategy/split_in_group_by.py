"""Units that a limit may bind are told apart where rows are grouped, and all others in no unit.

What is joined to rows, or asked of them, is read once for each of the two parts where they are
split before: `part` for the lines of most units, and again for those of a few. So all rows are
grouped at once, by their unit where a sidecar says that a limit may bind it:

revenue from lineitem ⋈ part, 120 rows of a unit

sums       GROUP BY CASE WHEN rows of the unit <= 120 THEN NULL ELSE unit END: sums of terms
unlimited  sums of no unit: the totals as they are
limited    all other sums: scaled, clamped, and in as many groups as count

Which rows are of no unit is decided by the very numbers by which `split_by_contribution` does so,
and so is what either part adds up to. A row has a unit: those without one aren't in a sidecar, nor
read of a table. What isn't known to be within a limit, is of its unit.

Where EXISTS is asked of rows, each of them is there or isn't, so that a unit has no more than the
table says.

Sums alone are found so: of units that are counted, those in no unit would be one. Where little is
joined, rows are so many that to group them by one column more takes longer than to read them twice.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.bounding.group_choice import is_sum_only
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contributions import emit_contributions
from dpsql.emit.sql.identifier import column_name, column_ref
from dpsql.physical.cost import (
    GROUP_BY_FEW_UNITS,
    MAX_JOINED_TABLES,
    cost_of_rows,
    table_count,
)
from dpsql.physical.emission import Emission
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE
from dpsql.physical.sidecar_rows import at_most, sidecar_rows
from dpsql.physical.strategy.bound_units import totals_of_bound_units, unit_unless
from dpsql.physical.strategy.unlimited_sums import has_caps
from dpsql.plan.bounded_release.bounded_release import (
    ByStoredRank,
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter


class SplitInGroupBy(Struct, frozen=True):
    """Group `rows` by their unit if any of its `counts` is above what it may be without a limit.

    If any is so of `over_limits`, of which there may be none, it is not enough to sum `unlimited`.
    """

    limited: LimitGroups
    rows: Contributions
    unlimited: Contributions
    over_limits: Filter
    counts: tuple[tuple[Column, int], ...]
    note: str

    is_blocking: ClassVar = False

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:
        """The plan, where a sidecar tells what no limit can bind, and nothing but sums is asked."""
        if not isinstance(limited, LimitGroups) or isinstance(limited.limit, ByStoredRank):
            return None
        terms = limited.contributions
        if not terms.statistics or not is_sum_only(terms) or has_caps(terms):
            return None
        rows = sidecar_rows(limited, facts.verified)
        limits = None if rows is None else rows.unlimited_rows()
        of_values = None if rows is None else rows.value_limits()
        if rows is None or limits is None or of_values is None or rows.is_on_server:
            return None
        known = rows.elimination
        if table_count(known.contributions) > MAX_JOINED_TABLES and not known.eliminated_tables:
            return None  # orders meet lines in the order of their keys faster than of their units
        first = rows.free_number()
        counts = tuple(
            (Column(first + number, name, COUNT_TYPE), limit)
            for number, (name, limit) in enumerate((*limits, *of_values))
        )
        columns = tuple(column for column, _ in counts)
        scan = rows.scan(*columns)
        read = rows.over(scan, (), columns)
        unlimited = rows.over(scan, [at_most(*each) for each in counts])
        note = f"{rows.describe((*limits, *of_values))}: summed in no unit"
        note += rows.describe_elimination()
        return cls(limited, read, unlimited, rows.over_limits(counts), counts, note)

    def estimate(self) -> Fraction:
        """In passes over the rows."""
        return cost_of_rows(self.rows) + GROUP_BY_FEW_UNITS

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        names = [column_name(column) for column, _ in self.counts]
        rows = emit_contributions(
            self.rows, emission.releases, with_unit=True, late=emission.late, extra=tuple(names)
        )
        conditions = [
            exp.LTE(this=column_ref(name), expression=integer(limit))
            for name, (_, limit) in zip(names, self.counts, strict=True)
        ]
        bound = unit_unless(exp.and_(*conditions, copy=False))
        return totals_of_bound_units(
            self.limited, self.rows, rows, bound, emission.late, _is_counted(self.counts[0][0])
        )


def _is_counted(count: Column) -> exp.Expr:
    """That a stored number isn't negative, which is true of each.

    DuckDB finds so in the column's statistics, drops the condition, and looks again for columns
    that nothing reads. Without a condition to drop, it would read numbers of which it has found
    that none is above its limit.
    """
    return exp.GTE(this=column_ref(column_name(count)), expression=integer(0))
