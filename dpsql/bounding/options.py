"""What an analyst may tighten of a release; nothing here loosens the schema."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.plan.expression import Expression
from dpsql.privacy.domain import Value
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.model import Limits
from dpsql.structs import replace


class KeyCaps(Struct, frozen=True):
    """Caps on what a unit's values sum to in each group by its `key`; `otherwise` in all others.

    `key` is the expression of a key of the release, whose values `caps` has. Raises ValueError for
    a cap that isn't above 0.
    """

    key: Expression
    caps: tuple[tuple[Value | None, Fraction], ...]
    otherwise: Fraction

    def __post_init__(self) -> None:
        if not min((self.otherwise, *(cap for _, cap in self.caps))) > 0:
            raise ValueError("a cap is above 0")

    @property
    def highest(self) -> Fraction:
        """The highest cap of any group."""
        return max((self.otherwise, *(cap for _, cap in self.caps)))


class SumCap(Struct, frozen=True):
    """A unit's values of `argument` sum, in a group, to no more than `cap` in either direction.

    `argument` is that of a bound call of sum(); `cap` has its unit. Where a sum can have them, caps
    `by_key` hold in its place. Raises ValueError for a cap that isn't above 0.
    """

    argument: Expression
    cap: Fraction
    by_key: KeyCaps | None = None

    def __post_init__(self) -> None:
        if not self.cap > 0:
            raise ValueError("a cap is above 0")


class ContributionLimits(Struct, frozen=True):
    """Limits below the schema's on what one unit contributes; None where the schema's hold.

    `unit_sum` caps what a unit's values sum to in a group, of all sums; `sums` those of some
    arguments. The least cap of an argument holds. `origin` says in words where they come from.

    How a unit in too many groups is kept to them, `over_groups`, is anybody's choice: as much is
    proved of a unit that is scaled as of one that is sampled. Scaled, it has the norm of
    `norm_order`, 1 or 2, by which noise is measured; None: as the noise of a release is.

    `groups_by_rows`: of what noise is measured by rows in all groups alone, where these are limited
    a unit may be in as many groups as it has rows, unless `groups` says fewer.
    """

    groups: int | None = None
    rows_per_group: int | None = None
    rows: int | None = None
    unit_sum: Fraction | None = None
    sums: tuple[SumCap, ...] = ()
    origin: str = "set for this session"
    over_groups: OverGroups | None = None
    norm_order: int | None = None
    groups_by_rows: bool = False

    def sampled(self) -> ContributionLimits:
        """The same limits, where units in too many groups can't be scaled to them."""
        return replace(self, over_groups=OverGroups.SAMPLE)

    def tightened(self, limits: Limits) -> Limits:
        """The schema's limits, or lower ones."""
        return Limits(
            _tighter(limits.groups, self.groups),
            _tighter(limits.rows_per_group, self.rows_per_group),
            _tighter(limits.rows, self.rows),
            limits.declared,
            over_groups=self.over_groups or limits.over_groups,
        )


class ReleaseOptions(Struct, frozen=True):
    """Which groups and counts of a release are shown.

    `min_units`: groups of fewer units, as far as noise lets tell, are left out. `nonnegative`:
    counts below 0 are shown as 0, which biases sums over many of them upwards. `weighted_keys`:
    where keys aren't listed, units in few groups weigh more in the choice of those that appear.
    """

    min_units: int | None = None
    nonnegative: bool = False
    weighted_keys: bool = False


AS_DECLARED: Final = ContributionLimits()
ALL_GROUPS: Final = ReleaseOptions()


def _tighter(declared: int, requested: int | None) -> int:
    return declared if requested is None else min(declared, requested)
