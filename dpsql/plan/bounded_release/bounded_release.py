"""What a release becomes once it is bounded: an operator chain whose every limit is emitted.

Release
LimitGroups(ByHash(groups=12))      each unit keeps at most 12 of its groups; its sums in them are
                                    scaled together where they are of more than `rows` rows
ClampPerGroup(rows_per_group=60)  each unit's sums lie in 60 times their rows' interval
PerUnitGroup                    one row per (unit, group), integer sums
Contributions                 one row per row: unit, keys, clamped integers
Restrict                    keys lie in the enumerated domain
Filter(Scan)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.plan.bounded_release.cell_selection import CellChoice
from dpsql.plan.bounded_release.estimator import EstimatedColumn
from dpsql.plan.bounded_release.statistic import Statistic
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, Join, Output, Plan, Scan
from dpsql.privacy.domain import Value

Cell = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class KeyDomain:
    """The enumerated cells of some of the keys, distinct; other rows are dropped by a join."""

    keys: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Contributions:
    """One row per row of `source`: its unit, keys, statistics' clamped terms, selections' cells.

    Rows whose keys lie outside `domains` are dropped.
    """

    source: Plan
    keys: tuple[Output, ...]
    domains: tuple[KeyDomain, ...]
    statistics: tuple[Statistic, ...]
    cell_choices: tuple[CellChoice, ...] = ()


@dataclass(frozen=True, slots=True)
class PerUnitGroup:
    """One row per (unit, group): the unit's number of rows there, and its sums of terms."""

    source: Contributions


@dataclass(frozen=True, slots=True)
class ClampPerGroup:
    """Scale units of more than `rows_per_group` rows in a group down to it, then clamp each sum.

    Sums and counts are scaled together, so that means stay right, and truncated toward 0.
    """

    source: PerUnitGroup
    rows_per_group: int


@dataclass(frozen=True, slots=True)
class ByHash:
    """Of each unit's groups, those that come first by a keyed hash; the key is fresh and secret."""

    groups: int


@dataclass(frozen=True, slots=True)
class ByDomain:
    """There are no more than `groups` groups, since all keys lie in the enumerated domain."""

    groups: int


@dataclass(frozen=True, slots=True)
class ByUnit:
    """The unit determines the keys, by verified keys of `tables`: each unit has one group."""

    tables: tuple[str, ...]


GroupLimit = ByHash | ByDomain | ByUnit


@dataclass(frozen=True, slots=True)
class LimitGroups:
    """Each unit is in at most so many groups, and counts for at most `rows` rows in all of them.

    A unit of more rows has its sums in all its groups scaled down together, truncated toward 0; of
    a group's rows no more count than `rows_per_group`. None where the other limits say as much.
    """

    source: ClampPerGroup
    limit: GroupLimit
    rows: int | None = None

    @property
    def contributions(self) -> Contributions:
        """The rows' terms, below every limit."""
        return self.source.source.source


@dataclass(frozen=True, slots=True)
class OneRowPerUnit:
    """Each unit has one row by how `source` is made, hence one group: nothing to limit."""

    source: Contributions


Limited = LimitGroups | OneRowPerUnit


@dataclass(frozen=True, slots=True)
class NoClampCondition:
    """A condition on a row under which clamps of the statistics at `indices` would change nothing.

    Their arguments are within their intervals, and the `columns` that they are computed of within
    these bounds, between which no computation overflows. `out_of_range` are numbers that are 0 in
    all rows of a table or in none; of others, no row is taken to be within.
    """

    indices: tuple[int, ...]
    columns: tuple[tuple[Column, Fraction, Fraction], ...]
    out_of_range: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class PerUnit:
    """The rows of every unit are summed in each of its groups."""


@dataclass(frozen=True, slots=True)
class UnlimitedRows:
    """Each statistic is a sum over rows: units aren't told apart.

    Rows that meet `no_clamp` may be summed apart, as they are.
    """

    contributions: Contributions
    no_clamp: NoClampCondition | None


@dataclass(frozen=True, slots=True)
class StoredSum:
    """A column of a unit's number of `values`, and one of their `total`, in steps."""

    values: Column
    total: Column


@dataclass(frozen=True, slots=True)
class StoredUnitSums:
    """One row per unit: it has so many `rows`, all of them in one group.

    For each statistic `sums` has the stored sum; None if rows or units are counted.
    """

    contributions: Contributions
    rows: Column
    sums: tuple[StoredSum | None, ...]


@dataclass(frozen=True, slots=True)
class SplitByContribution:
    """The rows that are summed, in two parts; no unit has rows of one group in both.

    In `unlimited` no unit passes a limit. The `rest` passes every limit as all rows would without a
    split.
    """

    unlimited: UnlimitedRows | StoredUnitSums
    rest: Contributions


@dataclass(frozen=True, slots=True)
class AggregateBelowJoin:
    """A join whose most numerous `rows` are summed for each unit before they meet the others'.

    In `join` their sums stand where `units` is read, which has no columns but the rows' unit. If
    `is_n_to_one`, verified keys prove that a unit's sums meet one row of the others at most: they
    are its partials already.
    """

    rows: Scan | Filter
    join: Join
    units: Scan
    is_n_to_one: bool


@dataclass(frozen=True, slots=True)
class ChooseGroupsFirst:
    """Which groups a unit keeps is found before its rows are summed.

    They are the first that it has in an order of all cells, of its own: each cell has another one
    of `ranks`, which are a prime number.
    """

    ranks: int


@dataclass(frozen=True, slots=True)
class CountUnitsFirst:
    """Units are split by how many rows they have: of at most `max_rows`, they pass no limit."""

    max_rows: int


PhysicalPlan = (
    PerUnit | SplitByContribution | AggregateBelowJoin | ChooseGroupsFirst | CountUnitsFirst
)
"""How limits are enforced.

All but a draw give the same integers, in more or less time; a draw gives those of other groups.
"""

ExplainedPlan = tuple[PhysicalPlan, str]
"""A bounding, and what to tell the analyst of it."""


@dataclass(frozen=True, slots=True)
class MinUnits:
    """Groups are dropped whose noisy number of units, at `count_index`, is below `threshold`.

    None: those that may be empty, whose number is no larger than the half-width of its noise.
    """

    count_index: int
    threshold: int | None


@dataclass(frozen=True, slots=True)
class BoundedRelease:
    """A release ready to be emitted: `limited` gives integers, `outputs` say what they mean.

    `partition_count_index` is the index of the unit count that decides which unlisted keys appear;
    None if all keys are enumerated. `notes` tell the analyst where limits and bounds came from.
    """

    limited: Limited
    outputs: tuple[EstimatedColumn, ...]
    partition_count_index: int | None
    notes: tuple[str, ...]
    min_units: MinUnits | None = None
    physical_plan: PhysicalPlan = PerUnit()

    @property
    def shows_all_cells(self) -> bool:
        """All keys are enumerated, and no noise decides which of them are shown."""
        return self.partition_count_index is None and self.min_units is None

    @property
    def contributions(self) -> Contributions:
        """The rows' terms, below every limit."""
        match self.limited:
            case OneRowPerUnit(source=terms):
                return terms
            case LimitGroups(contributions=terms):
                return terms
