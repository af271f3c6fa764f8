"""The general case: the rows of every unit are summed in each of its groups, and then limited.

terms     one row per row, with its unit
partials  GROUP BY unit, group: number of rows, sums of clamped terms
limited   scaled, clamped, and in as many groups as count
totals    GROUP BY group
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.bounding.public_facts import Facts
from dpsql.emit.release.limited_sums import limited_totals, unit_group_sums
from dpsql.physical.cost import GROUP_BY_UNIT, cost_of_choice, cost_of_rows
from dpsql.physical.emission import Emission
from dpsql.physical.sidecar_rows import stored_rank_rows
from dpsql.plan.bounded_release.bounded_release import (
    ByStoredRank,
    Contributions,
    Limited,
    LimitGroups,
)


class PerUnit(Struct, frozen=True):
    """Sum the `rows` of every unit in each of its groups; nothing else is known of them."""

    limited: LimitGroups
    rows: Contributions

    is_blocking: ClassVar = True
    """Most rows, or sums of them, wait in memory for others of their unit."""

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:
        """The plan, wherever limits have to be enforced; None elsewhere."""
        if not isinstance(limited, LimitGroups):
            return None
        if isinstance(limited.limit, ByStoredRank):
            return cls(limited, stored_rank_rows(limited, facts))
        return cls(limited, limited.contributions)

    def estimate(self) -> Fraction:
        """In passes over the rows."""
        return cost_of_rows(self.rows) + GROUP_BY_UNIT + cost_of_choice(self.limited.limit)

    @property
    def note(self) -> str:
        """Nothing that needs to be told."""
        return ""

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        sums = unit_group_sums(self.rows, emission.unit_rows(self.rows), emission.late)
        return limited_totals(self.limited, sums, emission.late)
