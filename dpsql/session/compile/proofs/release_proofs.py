"""What is proved of a release whatever noise is added: bounded, and planned, once for all losses.

A release is bounded, its sensitivity derived and its SQL written without asking what may be lost of
it; the noise alone is chosen by that. So the same text at another ε is calibrated, and no more.

Each is a function of its arguments, all of which are in its key, and of the schema and the facts of
one version of the data, whose these proofs are. A kept table is no fact of a version: each analyst
may have another one, whose rows may have to be paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar, TypeVarTuple, Unpack

from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.physical.engine_query import PlannedRelease
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.session.compile.proofs.recently_used import RecentlyUsed

MAX_PROOFS: Final = 64
"""How many releases are remembered."""

MAX_DERIVED: Final = 16 * MAX_PROOFS
"""How many results of functions of plans, and of parts of them, are remembered."""

Part = TypeVar("Part")
Derived = TypeVar("Derived")
Arguments = TypeVarTuple("Arguments")


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
        self._derived: RecentlyUsed[Hashable, tuple[Any, Any]] = RecentlyUsed(MAX_DERIVED)

    def derived(
        self,
        part: Part,
        derive: Callable[[Part, Unpack[Arguments]], Derived],
        *arguments: *Arguments,
    ) -> Derived:
        """What `derive` makes of this `part` of a plan: one object for as long as it's known.

        It is a function of a module, whose result follows from `part` and `arguments`. So what
        stands above a plan's releases is written as SQL once, too, and tried once.
        """
        key = id(part), derive, arguments
        known = self._derived.get(key)
        if known is None or known[0] is not part:
            known = part, derive(part, *arguments)
            self._derived.put(key, known)
        value: Derived = known[1]
        return value

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
