"""The choice of a physical plan: of all strategies that apply, the one of the least estimate."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from dpsql.bounding.public_facts import Facts
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.physical.modifier.sidecar_access import (
    with_server_sidecar,
    with_sidecar,
    without_sidecar,
)
from dpsql.physical.plan import STRATEGIES, PhysicalPlan
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.plan.bounded_release.bounded_release import Limited, contributions_of


class Candidate(Struct, frozen=True):
    """A strategy that applies, and what it is taken to cost, in passes over the rows."""

    plan: PhysicalPlan
    estimate: Fraction

    @property
    def name(self) -> str:
        """The strategy's name."""
        return type(self.plan).__name__


class Choice(Struct, frozen=True):
    """The cheapest `plan` of all `candidates`, which stand by estimate.

    `limited` has the rows as they are read, from a sidecar where there is one.
    """

    limited: Limited
    candidates: tuple[Candidate, ...]

    @property
    def plan(self) -> PhysicalPlan:
        """The plan that is run."""
        return self.candidates[0].plan


def choose(limited: Limited, facts: Facts) -> Choice:
    """The ways to the integers of `limited`, the cheapest first."""
    return _choice(with_sidecar(limited, facts), facts)


def choose_on_server(limited: Limited, facts: Facts, sidecar: ServerSidecar) -> Choice | None:
    """The same over the rows that `sidecar` has on the source's server; None if it has none."""
    ready = with_server_sidecar(limited, sidecar)
    return None if ready is None else _choice(ready, facts)


def choose_without_sidecar(limited: Limited, facts: Facts) -> Choice:
    """The same over the source's own tables alone."""
    return _choice(without_sidecar(limited), facts)


def _choice(limited: Limited, facts: Facts) -> Choice:
    # What a unit weighs follows from all of its groups, which only one way has side by side.
    is_weighed = contributions_of(limited).weighs_units
    ways = (PerUnit,) if is_weighed else STRATEGIES
    plans = (strategy.applies(limited, facts) for strategy in ways)
    candidates = [Candidate(plan, plan.estimate()) for plan in plans if plan is not None]
    # Of equal estimates, the order of STRATEGIES decides.
    candidates.sort(key=lambda candidate: candidate.estimate)
    return Choice(limited, tuple(candidates))
