"""A release as statements that Spark computes: by the strategies that its dialect takes."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.emit.dialect.spark.guard import refused
from dpsql.emit.dialect.spark.render import STRATEGIES, Statement, rendered
from dpsql.physical.choose import Choice
from dpsql.physical.engine_query import domain_tables, emit_trees
from dpsql.plan.bounded_release.bounded_release import contributions_of
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """A statement that gives a release's integers, and those that give its cells' counts."""

    strategy: str
    totals: Statement
    histograms: tuple[Statement, ...]


def spark_query(choice: Choice) -> SparkQuery:
    """The statements for Spark, by the cheapest strategy that it takes.

    Refused, by the name of a function, type or clause, for what isn't on Spark's lists.
    """
    known = (each for each in choice.candidates if each.name in STRATEGIES)
    candidate = next(known, None)
    plans = operators(contributions_of(choice.limited).source)
    if any(isinstance(plan, Release) for plan in plans):
        raise refused("a release of what was released")
    if candidate is None:
        raise refused("a release by stored sums")
    select, counts = emit_trees(candidate.plan, choice.limited, {})
    domains = domain_tables(contributions_of(choice.limited))
    return SparkQuery(
        candidate.name,
        rendered(select, domains),
        tuple(rendered(count, domains) for count in counts),
    )
