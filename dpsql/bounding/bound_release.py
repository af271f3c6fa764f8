"""Bound a release: clamp what is summed, limit what a unit contributes, enumerate the keys."""

from __future__ import annotations

from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.unit_identity import unit_valued_columns
from dpsql.analysis.public_row_count import public_row_count
from dpsql.analysis.sensitivity import rows_per_group
from dpsql.bounding.cell_selection import CHOSEN, CellChoices
from dpsql.bounding.contribution_limit import limit_contributions
from dpsql.bounding.frequent_key import FREQUENT_NOTE, frequent_choice
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ALL_GROUPS, AS_DECLARED, ContributionLimits, ReleaseOptions
from dpsql.bounding.private_selection import candidate_choice
from dpsql.bounding.public_bounds import with_public_bounds
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.randomized_response import estimate_true_answers
from dpsql.bounding.randomized_response_keys import check_groups
from dpsql.bounding.statistics.statistics import StatisticsBuilder
from dpsql.plan.aggregate import LEFT_OUT, AggregateCall
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Contributions, MinUnits
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
    read = with_public_bounds(prune_release(release), facts)
    release, responses, key = estimate_true_answers(read)
    below = column_domains(release.source)
    domains = key_domains(release.keys, release.source, release.key_source, below, facts)
    if not is_synopsis:
        domains = limit_cells(domains)  # a synopsis lists all, or is refused
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
    best = None if release.candidates is None else candidate_choice(release.candidates, facts)
    if release.frequent is not None:
        best = frequent_choice(release.frequent)
    candidates, shown = best or ((), ())
    rows = Statistic(RowCount(), None)
    count_index = statistics.statistics.index(rows) if rows in statistics.statistics else None
    chosen = selections.estimators(others, count_index)
    listed = {index for each in domains for index in each.keys}
    # Without a public list of all its keys, a group shows itself only if enough units are in it.
    selection = None if len(listed) == len(release.keys) else statistics.presence()
    min_units = None
    if options.min_units is not None and release.keys:
        min_units = MinUnits(statistics.presence(), options.min_units)
    elif release.hides_empty_groups and release.keys and selection is None and not responses:
        min_units = MinUnits(statistics.presence(of_rows=True), None)
    choices = (*candidates, *selections.choices())
    terms = Contributions(
        release.source, release.keys, domains, tuple(statistics.statistics), choices
    )
    chain, reasons = limit_contributions(terms, facts, limits)
    if release.frequent is not None:
        reasons = (FREQUENT_NOTE,)  # its rows are limited key by key, and in all not at all
    notes = (*reasons, *selections.notes)
    if min_units is not None and min_units.threshold is None:
        notes = (*notes, _GROUPS_WITH_ROWS_NOTE)
    if any(row_count_index(output.estimator) is not None for output in (*formulas, *chosen)):
        notes = (*notes, _OF_NO_ROWS)
    return BoundedRelease(chain, (*formulas, *chosen, *shown), selection, notes, min_units)


def _is_summed(call: AggregateCall) -> bool:
    """What limits leave out is counted, also of what is chosen."""
    return call.function not in CHOSEN or call.output_kind in LEFT_OUT
