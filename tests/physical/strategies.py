"""Releases computed by another strategy than the cheapest, or batch by batch of their units."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpsql.physical.engine_query import can_be_batched, emit_query
from dpsql.physical.plan import PhysicalPlan
from dpsql.plan.bounded_release.engine_query import BatchPolicy, EngineQuery, UnitBatches
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace


def names_of(release: CompiledRelease) -> dict[Release, str]:
    """What the releases that `release` reads are called in its SQL."""
    plans = operators(release.release.source)
    below = dict.fromkeys(plan for plan in plans if isinstance(plan, Release))
    return dict(zip(below, release.step.reads, strict=False))


def by_plan(release: CompiledRelease, plan: PhysicalPlan) -> CompiledRelease:
    """The same release, computed by `plan` and at once."""
    query = emit_query(plan, release.choice.limited, names_of(release))
    return with_query(release, query)


def with_query(release: CompiledRelease, query: EngineQuery) -> CompiledRelease:
    """The same release, whose integers `query` gives wherever it runs."""
    step = replace(release.step, query=query, batches=None, without_sidecar=None)
    return replace(release, step=step)


def by_strategy(release: CompiledRelease, strategy: type[PhysicalPlan]) -> CompiledRelease:
    """The same release, computed by a strategy that applies."""
    (plan,) = (c.plan for c in release.choice.candidates if isinstance(c.plan, strategy))
    return by_plan(release, plan)


def by_all_other_strategies(release: CompiledRelease) -> Iterator[tuple[str, CompiledRelease]]:
    """The same release by each strategy that applies but for the cheapest, with its name."""
    for candidate in release.choice.candidates[1:]:
        yield candidate.name, by_plan(release, candidate.plan)


def is_batched(release: CompiledRelease) -> bool:
    """Whether the release is computed batch by batch where rows are many."""
    return can_be_batched(release.choice.plan, release.step.bounded.contributions)


def in_batches(release: CompiledRelease, count: int) -> CompiledRelease:
    """The same release, in `count` batches wherever a table has as many rows."""
    batches = release.step.batches
    assert batches is not None
    policy = BatchPolicy(
        batches.policy.tables,
        min_rows=1,
        max_batches=count,
        max_rows=2**40,
        selectivity=Fraction(1),
    )
    step = replace(release.step, batches=UnitBatches(batches.query, policy), without_sidecar=None)
    return replace(release, step=step)
