"""The term by which keys are chosen where units in few groups weigh more in each."""

from __future__ import annotations

from msgspec import Struct

from dpsql.privacy.unit_weight import unit_weights


class UnitWeight(Struct, frozen=True):
    """What each unit in the group weighs: more, the fewer groups it is in, of `groups` at most.

    It decides which keys are shown, and is no number of anything that is.
    """

    groups: int

    @property
    def weights(self) -> tuple[tuple[int, int], ...]:
        """Pairs of a largest number of groups and the weight in each of a unit in no more."""
        return unit_weights(self.groups)

    @property
    def largest(self) -> int:
        """The weight of a unit in its only group."""
        return self.weights[0][1]
