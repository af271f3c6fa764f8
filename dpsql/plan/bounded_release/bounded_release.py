"""What a release becomes once it is bounded: an operator chain whose every limit is emitted.

Release
LimitGroups(ByHash(groups=12))      each unit keeps at most 12 of its groups; its sums in them are
                                    scaled together where they are of more than `rows` rows
ClampPartials(rows_per_group=60)  each unit's sums lie in 60 times their rows' interval
Partials                        one row per (unit, group), integer sums
Terms                         one row per row: unit, keys, clamped integers
Restrict                    keys lie in the enumerated domain
Filter(Scan)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.plan.bounded_release.cell_selection import Selection
from dpsql.plan.bounded_release.estimator import FormulaOutput
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
class Terms:
    """One row per row of `source`: its unit, keys, statistics' clamped terms, selections' cells.

    Rows whose keys lie outside `domains` are dropped.
    """

    source: Plan
    keys: tuple[Output, ...]
    domains: tuple[KeyDomain, ...]
    statistics: tuple[Statistic, ...]
    selections: tuple[Selection, ...] = ()


@dataclass(frozen=True, slots=True)
class Partials:
    """One row per (unit, group): the unit's number of rows there, and its sums of terms."""

    source: Terms


@dataclass(frozen=True, slots=True)
class ClampPartials:
    """Scale units of more than `rows_per_group` rows in a group down to it, then clamp each sum.

    Sums and counts are scaled together, so that means stay right, and truncated toward 0.
    """

    source: Partials
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

    source: ClampPartials
    limit: GroupLimit
    rows: int | None = None

    @property
    def terms(self) -> Terms:
        """The rows' terms, below every limit."""
        return self.source.source.source


@dataclass(frozen=True, slots=True)
class OneRowPerUnit:
    """Each unit has one row by how `source` is made, hence one group: nothing to limit."""

    source: Terms


Limited = LimitGroups | OneRowPerUnit


@dataclass(frozen=True, slots=True)
class Within:
    """What to ask of a row, so that clamps of the statistics at `places` would change nothing.

    Are their arguments within their intervals? Are the `columns` that they are computed of within
    these bounds, between which no computation overflows? `beyond` are numbers that are 0 in all
    rows of a table or in none; of others, no row is taken to be within.
    """

    places: tuple[int, ...]
    columns: tuple[tuple[Column, Fraction, Fraction], ...]
    beyond: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class UnitByUnit:
    """The rows of every unit are summed in each of its groups."""


@dataclass(frozen=True, slots=True)
class LightRows:
    """Each statistic is a sum over rows: units aren't told apart.

    Rows `within` bounds may be summed apart, as they are.
    """

    terms: Terms
    within: Within | None


@dataclass(frozen=True, slots=True)
class StoredSum:
    """A column of a unit's number of `values`, and one of their `total`, in steps."""

    values: Column
    total: Column


@dataclass(frozen=True, slots=True)
class UnitSums:
    """One row per unit: it has so many `rows`, all of them in one group.

    By the statistics' places, what they sum `stands` ready; None if rows or units are counted.
    """

    terms: Terms
    rows: Column
    stands: tuple[StoredSum | None, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """The rows that are summed, in two parts; no unit has rows of one group in both.

    In `light` no unit passes a limit. The `rest` passes every limit as all rows would without a
    split.
    """

    light: LightRows | UnitSums
    rest: Terms


@dataclass(frozen=True, slots=True)
class Early:
    """A join whose most numerous `rows` are summed for each unit before they meet the others'.

    In `join` their sums stand where `units` is read, which has no columns but the rows' unit. If
    `meets_one`, verified keys prove that a unit's sums meet one row of the others at most: they are
    its partials already.
    """

    rows: Scan | Filter
    join: Join
    units: Scan
    meets_one: bool


@dataclass(frozen=True, slots=True)
class Draw:
    """Which groups a unit keeps is found before its rows are summed.

    They are the first that it has in an order of all cells, of its own: each cell has another one
    of `places`, which are a prime number.
    """

    places: int


@dataclass(frozen=True, slots=True)
class CountFirst:
    """Units are told apart by how many rows they have: of at most `rows`, they pass no limit."""

    rows: int


Bounding = UnitByUnit | Split | Early | Draw | CountFirst
"""How limits are enforced.

All but a draw give the same integers, in more or less time; a draw gives those of other groups.
"""

Chosen = tuple[Bounding, str]
"""A bounding, and what to tell the analyst of it."""


@dataclass(frozen=True, slots=True)
class LeastUnits:
    """Groups whose noisy number of units, the statistic at `place`, is less than `units` go.

    None: those that may be empty, whose number is no larger than the half-width of its noise.
    """

    place: int
    units: int | None


@dataclass(frozen=True, slots=True)
class BoundedRelease:
    """A release ready to be emitted: `limited` gives integers, `outputs` say what they mean.

    `selection` is the place of the unit count that decides which unlisted keys appear; None if
    all keys are enumerated. `notes` tell the analyst where limits and bounds came from.
    """

    limited: Limited
    outputs: tuple[FormulaOutput, ...]
    selection: int | None
    notes: tuple[str, ...]
    least: LeastUnits | None = None
    bounding: Bounding = UnitByUnit()

    @property
    def shows_all_cells(self) -> bool:
        """All keys are enumerated, and no noise decides which of them are shown."""
        return self.selection is None and self.least is None

    @property
    def terms(self) -> Terms:
        """The rows' terms, below every limit."""
        match self.limited:
            case OneRowPerUnit(source=terms):
                return terms
            case LimitGroups(terms=terms):
                return terms
