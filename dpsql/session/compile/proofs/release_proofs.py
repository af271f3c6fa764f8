"""What is proved of a release whatever noise is added: bounded, and planned, once for all losses.

A release is bounded, its sensitivity derived and its SQL written without asking what may be lost of
it; the noise alone is chosen by that. So the same text at another ε is calibrated, and no more.

Each is a function of its arguments, all of which are in its key, and of the schema and the facts of
one version of the data, whose these proofs are. A kept table is no fact of a version: each analyst
may have another one, whose rows may have to be paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.physical.engine_query import PlannedRelease
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.operator import Plan
from dpsql.session.compile.proofs.recently_used import RecentlyUsed

MAX_PROOFS: Final = 64
"""How many releases are remembered."""


class PlannedProof(Struct, frozen=True):
    """How much neighbours change the integers of `bounded`, and how these are computed."""

    bounded: BoundedRelease
    changes: Sensitivity
    planned: PlannedRelease


class ReleaseProofs:
    """The releases that were bounded and planned last."""

    def __init__(self, size: int = MAX_PROOFS) -> None:
        self._bounded: RecentlyUsed[Hashable, BoundedRelease] = RecentlyUsed(size)
        # By where they are: to compare two long lists of keys takes as long as to read one. What
        # is remembered is held, so that its id stays its own.
        self._planned: RecentlyUsed[tuple[int, tuple[str, ...]], PlannedProof] = RecentlyUsed(size)
        self._trimmed: RecentlyUsed[int, tuple[Plan, Plan]] = RecentlyUsed(size)

    def trimmed(self, plan: Plan, trim: Callable[[Plan], Plan]) -> Plan:
        """What `trim`, always the same, makes of this `plan`: one object for as long as it's known.

        So what stands above its releases is written as SQL once, too, and tried once.
        """
        known = self._trimmed.get(id(plan))
        if known is None or known[0] is not plan:
            known = plan, trim(plan)
            self._trimmed.put(id(plan), known)
        return known[1]

    def bounded(self, key: Hashable, bound: Callable[[], BoundedRelease]) -> BoundedRelease:
        """What `bound` makes, which follows from `key`: one object for as long as it's known."""
        known = self._bounded.get(key)
        if known is None:
            known = bound()
            self._bounded.put(key, known)
        return known

    def planned(
        self,
        bounded: BoundedRelease,
        read: tuple[str, ...],
        plan: Callable[[], PlannedProof],
    ) -> PlannedProof:
        """What `plan` makes of this `bounded`, and of no other that equals it.

        `read` are the names of the releases that it reads, in the order in which it has them.
        """
        key = id(bounded), read
        known = self._planned.get(key)
        if known is None or known.bounded is not bounded:
            known = plan()
            self._planned.put(key, known)
        return known
