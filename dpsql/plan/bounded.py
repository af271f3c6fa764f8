"""What a release becomes once it is bounded: an operator chain whose every limit is emitted.

Release
LimitGroups(ByHash(groups=12))      each unit keeps at most 12 of its groups
ClampPartials(rows_per_group=60)  each unit's sums lie in 60 times their rows' interval
Partials                        one row per (unit, group), integer sums
Terms                         one row per row: unit, keys, clamped integers
Restrict                    keys lie in the enumerated domain
Filter(Scan)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Output, Plan
from dpsql.privacy.domain import Value
from dpsql.schema.type import SqlType

Cell = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class Ones:
    """1 for each row: the term of COUNT(*)."""


@dataclass(frozen=True, slots=True)
class Present:
    """1 for each row whose `argument` isn't NULL or NaN, else 0: the term of COUNT(x)."""

    argument: Expression


@dataclass(frozen=True, slots=True)
class Amount:
    """`argument` in integer steps, less `centre` steps; 0 where it is NULL or NaN."""

    argument: Expression
    centre: int


@dataclass(frozen=True, slots=True)
class Presence:
    """1 for each unit in the group, however many rows it has there."""


Term = Ones | Present | Amount | Presence


@dataclass(frozen=True, slots=True)
class Statistic:
    """An integer summed over each group: `term` of each row for which `filter` holds.

    Every row's term is clamped to [low, high] as emitted; one integer is worth `step`.
    """

    term: Term
    filter: Expression | None
    low: int
    high: int
    step: Fraction

    @property
    def magnitude(self) -> int:
        """The most one row can add or take away."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class KeyDomain:
    """The enumerated cells of some of the keys, distinct; other rows are dropped by a join."""

    keys: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """One row per row of `source`: its unit, its keys and its statistics' clamped terms.

    Rows whose keys lie outside `domains` are dropped.
    """

    source: Plan
    keys: tuple[Output, ...]
    domains: tuple[KeyDomain, ...]
    statistics: tuple[Statistic, ...]


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
    """Of each unit's groups, those with the lowest keyed hashes; the key is fresh and secret."""

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
    """Each unit is in at most so many groups."""

    source: ClampPartials
    limit: GroupLimit


@dataclass(frozen=True, slots=True)
class OneRowPerUnit:
    """Verified keys of `tables` leave each unit one row, hence one group: nothing to limit."""

    source: Terms
    tables: tuple[str, ...]


Limited = LimitGroups | OneRowPerUnit


@dataclass(frozen=True, slots=True)
class Linear:
    """`step * sum of coefficient * statistic`, exactly, as `type`."""

    terms: tuple[tuple[int, int], ...]
    step: Fraction
    type: SqlType


@dataclass(frozen=True, slots=True)
class Mean:
    """`step * (centre + total / max(count, 1))`, kept within [low, high]."""

    total: int
    count: int
    centre: int
    step: Fraction
    low: Fraction
    high: Fraction


Formula = Linear | Mean
"""How a column is computed from noisy statistics, which are named by their place in the release."""


@dataclass(frozen=True, slots=True)
class FormulaOutput:
    """A released column and its formula."""

    column: Column
    formula: Formula


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

    @property
    def terms(self) -> Terms:
        """The rows' terms, below every limit."""
        match self.limited:
            case OneRowPerUnit(source=terms):
                return terms
            case LimitGroups(source=clamped):
                return clamped.source.source
