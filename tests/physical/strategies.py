"""Releases computed by another strategy than the cheapest, or batch by batch of their units."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpsql.physical.engine_query import can_be_batched, emit_query
from dpsql.physical.plan import PhysicalPlan
from dpsql.plan.bounded_release.engine_query import (
    CACHED_TABLE,
    HASH_SPACE,
    BatchPolicy,
    EngineQuery,
    UnitBatches,
)
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
    return replace(release, step=replace(step, cached_sums=None, unlimited=None))


def by_strategy(release: CompiledRelease, strategy: type[PhysicalPlan]) -> CompiledRelease:
    """The same release, computed by a strategy that applies."""
    (plan,) = (c.plan for c in release.choice.candidates if isinstance(c.plan, strategy))
    return by_plan(release, plan)


def by_all_other_strategies(release: CompiledRelease) -> Iterator[tuple[str, CompiledRelease]]:
    """The same release by each strategy that applies but for the cheapest, with its name.

    From sums that may be kept is one more way.
    """
    for candidate in release.choice.candidates[1:]:
        yield candidate.name, by_plan(release, candidate.plan)
    if release.step.cached_sums is not None:
        yield "cached sums", from_cached_sums(release)


def from_cached_sums(release: CompiledRelease) -> CompiledRelease:
    """The same release from its cached sums, which are found in the statement that reads them."""
    cached = release.step.cached_sums
    assert cached is not None
    sums = cached.sums
    for number, end in ((2, 0), (3, HASH_SPACE - 1)):
        sums = sums.replace(f"CAST(${number} AS UBIGINT)", f"CAST({end} AS UBIGINT)")
    whole = cached.totals.replace(f'"{cached.name}"."{CACHED_TABLE}"', f"({sums})")
    assert cached.name not in whole
    return with_query(release, replace(release.step.query, sql=whole, salted=True))


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
