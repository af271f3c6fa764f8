"""Units' sums in their groups are kept by the engine for statements that ask for them again.

To find which groups each unit has, and to rank them, is most of what a statement takes whose groups
are many: count by clerk takes 60 times what it takes without privacy, and from cached sums twice.
What is kept is told apart by the very SQL that finds it, so that it is what would be found again,
of the version of the data that the engine reads. It holds no limit.

Which groups a unit keeps follows from the salt, which is one for all such statements of a session:
also for those whose sums aren't kept, of more rows than are worth it. A fresh salt wherever there
are that many rows would have the answers to two statements agree or not, by one unit more or less.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.row_estimate import guard_sums
from dpsql.emit.release.cached_sums import ranked_groups
from dpsql.emit.release.limited_sums import unit_group_sums
from dpsql.engine.digest import digest_of
from dpsql.physical.cost import has_few_groups, late_key_joins
from dpsql.physical.emission import Emission
from dpsql.physical.modifier.unit_batches import (
    batch_policy,
    is_sum_over_units,
    rows_of_one_batch,
)
from dpsql.physical.plan import PhysicalPlan
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import CachedSums
from dpsql.plan.operator import Release


def cache_name(sums: str) -> str:
    """What the sums that the SQL `sums` finds are kept under."""
    return f"cached {digest_of('cached sums', sums)}"


def cached_sums(
    bounded: BoundedRelease, plan: PhysicalPlan, releases: Mapping[Release, str]
) -> CachedSums | None:
    """The statements that find what is kept, and what is asked for from it; None if nothing is.

    Of few listed groups, other ways take less time. What is counted of rows by cells needs the
    rows, and values that units share aren't sums over units.
    """
    if not isinstance(plan, PerUnit) or bounded.contributions.cell_choices:
        return None
    terms = plan.limited.contributions
    ranked = ranked_groups(plan.limited)
    if ranked is None or has_few_groups(terms) or not is_sum_over_units(terms):
        return None
    emission = Emission(releases, late_key_joins(terms, by_unit=True), rows_of_one_batch)
    partials = unit_group_sums(plan.rows, emission.unit_rows(plan.rows), emission.late)
    tree = ranked.sums(partials, emission.late)
    guard_sums(tree, plan.rows.source)
    sums = rendered(tree)
    name = cache_name(sums)
    totals = rendered(ranked.totals(name))
    return CachedSums(name, sums, totals, plan.limited.rows is not None, batch_policy(bounded))
