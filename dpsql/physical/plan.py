"""The physical plan of a release: one of several ways to the same integers, in more or less time.

What decides the integers is fixed before, in the bounded release: which rows there are, their
clamps, and how a unit's groups are chosen. Each strategy that applies gives the same ones, so that
the choice among them is of time alone.
"""

from __future__ import annotations

from typing import Final

from dpsql.physical.strategy.aggregate_below_join import AggregateBelowJoin
from dpsql.physical.strategy.choose_groups_first import ChooseGroupsFirst
from dpsql.physical.strategy.count_units_first import CountUnitsFirst
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.split_in_group_by import SplitInGroupBy
from dpsql.physical.strategy.stored_unit_sums import StoredUnitSums
from dpsql.physical.strategy.sum_rows import SumRows

PhysicalPlan = (
    SumRows
    | StoredUnitSums
    | SplitByContribution
    | SplitInGroupBy
    | AggregateBelowJoin
    | CountUnitsFirst
    | ChooseGroupsFirst
    | PerUnit
)

STRATEGIES: Final[tuple[type[PhysicalPlan], ...]] = (
    SumRows,
    StoredUnitSums,
    SplitByContribution,
    SplitInGroupBy,
    AggregateBelowJoin,
    CountUnitsFirst,
    ChooseGroupsFirst,
    PerUnit,
)
"""All strategies; of two of the same estimate, the former is taken."""
