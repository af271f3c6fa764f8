"""Bound a release: clamp what is summed, limit what a unit contributes, enumerate the keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.unit_identity import unit_valued_columns
from dpsql.analysis.public_row_count import public_row_count
from dpsql.analysis.sensitivity import rows_per_group
from dpsql.bounding.cell_selection import CHOSEN, CellChoices
from dpsql.bounding.contribution_limit import limit_contributions
from dpsql.bounding.key_domain import are_few_cells, key_domains
from dpsql.bounding.options import ALL_GROUPS, AS_DECLARED, ContributionLimits, ReleaseOptions
from dpsql.bounding.public_bounds import with_public_bounds
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.randomized_response import estimate_true_answers
from dpsql.bounding.randomized_response_keys import check_groups
from dpsql.bounding.statistics.statistics import StatisticsBuilder
from dpsql.bounding.strategy.aggregate_below_join import aggregate_below_join
from dpsql.bounding.strategy.choose_groups_first import choose_groups_first
from dpsql.bounding.strategy.count_units_first import count_units_first
from dpsql.bounding.strategy.sidecar_access import from_sidecar
from dpsql.bounding.strategy.split_by_contribution import split_by_contribution
from dpsql.plan.aggregate import LEFT_OUT, AggregateCall
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Contributions,
    ExplainedPlan,
    Limited,
    LimitGroups,
    MinUnits,
    OneRowPerUnit,
)
from dpsql.plan.bounded_release.estimator import row_count_index
from dpsql.plan.bounded_release.statistic import RowCount, Statistic
from dpsql.plan.operator import Release
from dpsql.plan.prune_columns import prune_release

_GROUPS_WITH_ROWS_NOTE: Final = (
    "groups that may be empty, as far as noise tells, are left out of what reads them"
)
_OF_NO_ROWS: Final = "estimates are NULL in groups that may be empty, as far as noise tells"


def bound_release(
    release: Release,
    facts: Facts,
    limits: ContributionLimits = AS_DECLARED,
    options: ReleaseOptions = ALL_GROUPS,
    *,
    is_synopsis: bool = False,
) -> BoundedRelease:
    """`release` as integers within limits: everything a sensitivity will be derived from."""
    read = with_public_bounds(from_sidecar(prune_release(release), facts), facts)
    release, responses, key = estimate_true_answers(read)
    below = column_domains(release.source)
    domains = key_domains(release.keys, release.source, release.key_source, below, facts)
    if not is_synopsis:
        domains = are_few_cells(domains)  # a synopsis lists all, or is refused
    if key is not None:
        check_groups(key, domains, release, options, is_synopsis=is_synopsis)
    draft, _ = limit_contributions(
        Contributions(release.source, release.keys, domains, ()), facts, limits
    )
    statistics = StatisticsBuilder(
        below,
        unit_valued_columns(release.source),
        nonnegative=options.nonnegative,
        per_unit=rows_per_group(draft),
        rows=None if release.keys else public_row_count(release.source),
        responses=responses,
        answer_key=key,
    )
    summed = tuple(a for a in release.aggregates if _is_summed(a.call))
    formulas = statistics.estimators(summed)
    selections = CellChoices(below)
    others = tuple(a for a in release.aggregates if a not in summed)
    rows = Statistic(RowCount(), None)
    place = statistics.statistics.index(rows) if rows in statistics.statistics else None
    chosen = selections.estimators(others, place)
    listed = {place for found in domains for place in found.keys}
    # Without a public list of all its keys, a group shows itself only if enough units are in it.
    selection = None if len(listed) == len(release.keys) else statistics.presence()
    least = None
    if options.min_units is not None and release.keys:
        least = MinUnits(statistics.presence(), options.min_units)
    elif release.hides_empty_groups and release.keys and selection is None and not responses:
        least = MinUnits(statistics.presence(of_rows=True), None)
    terms = Contributions(
        release.source, release.keys, domains, tuple(statistics.statistics), selections.choices()
    )
    chain, reasons = limit_contributions(terms, facts, limits)
    notes = (*reasons, *selections.notes)
    if least is not None and least.threshold is None:
        notes = (*notes, _GROUPS_WITH_ROWS_NOTE)
    if any(row_count_index(output.estimator) is not None for output in (*formulas, *chosen)):
        notes = (*notes, _OF_NO_ROWS)
    found = BoundedRelease(chain, (*formulas, *chosen), selection, notes, least)
    cheaper = _choose_plan(chain, facts)
    if cheaper is None:
        return found
    bounding, note = cheaper
    return replace(found, physical_plan=bounding, notes=(*notes, note))


def _choose_plan(limited: Limited, facts: Facts) -> ExplainedPlan | None:
    """The first that can be had of what takes less time than to sum unit by unit."""
    match limited:
        case OneRowPerUnit():
            return None
        case LimitGroups():
            return (
                split_by_contribution(limited, facts)
                or aggregate_below_join(limited, facts)
                or choose_groups_first(limited)
                or count_units_first(limited)
            )
        case missing:
            assert_never(missing)


def _is_summed(call: AggregateCall) -> bool:
    """What limits leave out is counted, also of what is chosen."""
    return call.function not in CHOSEN or call.output_kind in LEFT_OUT
