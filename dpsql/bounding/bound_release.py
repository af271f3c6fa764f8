"""Bound a release: clamp what is summed, limit what a unit contributes, enumerate the keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from dpsql.analysis.domains.column_domains import environment
from dpsql.analysis.lineage.unit_identity import named_units
from dpsql.analysis.public_row_count import public_rows
from dpsql.analysis.sensitivity import rows_per_group
from dpsql.bounding.cell_selection import CHOSEN, Selections
from dpsql.bounding.contribution_limit import limited
from dpsql.bounding.key_domain import few_enough, key_domains
from dpsql.bounding.public_bounds import with_public_bounds
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.randomized_response import of_true_answers
from dpsql.bounding.randomized_response_keys import check_groups
from dpsql.bounding.settings import AS_DECLARED, Settings
from dpsql.bounding.statistics.statistics import Statistics
from dpsql.bounding.strategy.aggregate_below_join import sum_early
from dpsql.bounding.strategy.choose_groups_first import draw_groups
from dpsql.bounding.strategy.count_units_first import count_first
from dpsql.bounding.strategy.sidecar_access import from_prepared
from dpsql.bounding.strategy.split_by_contribution import split_rows
from dpsql.plan.aggregate import LEFT_OUT, AggregateCall
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Chosen,
    LeastUnits,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    Terms,
)
from dpsql.plan.bounded_release.estimator import counted
from dpsql.plan.bounded_release.statistic import Ones, Statistic
from dpsql.plan.operator import Release
from dpsql.plan.prune_columns import prune_release

_FOUND: Final = "groups that may be empty, as far as noise tells, are left out of what reads them"
_OF_NO_ROWS: Final = "estimates are NULL in groups that may be empty, as far as noise tells"


def bound(release: Release, facts: Facts, settings: Settings = AS_DECLARED) -> BoundedRelease:
    """`release` as integers within limits: everything a sensitivity will be derived from."""
    read = with_public_bounds(from_prepared(prune_release(release), facts), facts)
    release, responses, key = of_true_answers(read)
    below = environment(release.source)
    domains = key_domains(release.keys, release.source, release.listed, below, facts)
    if settings.rounds is None:
        domains = few_enough(domains)  # a synopsis lists all, or is refused
    if key is not None:
        check_groups(key, domains, release, settings)
    draft, _ = limited(Terms(release.source, release.keys, domains, ()), facts, settings)
    statistics = Statistics(
        below,
        named_units(release.source),
        nonnegative=settings.nonnegative,
        per_unit=rows_per_group(draft),
        rows=None if release.keys else public_rows(release.source),
        responses=responses,
        answer_key=key,
    )
    summed = tuple(a for a in release.aggregates if _is_summed(a.call))
    formulas = statistics.formulas(summed)
    selections = Selections(below)
    others = tuple(a for a in release.aggregates if a not in summed)
    rows = Statistic(Ones(), None)
    place = statistics.found.index(rows) if rows in statistics.found else None
    chosen = selections.formulas(others, place)
    listed = {place for found in domains for place in found.keys}
    # Without a public list of all its keys, a group shows itself only if enough units are in it.
    selection = None if len(listed) == len(release.keys) else statistics.presence()
    least = None
    if settings.min_units is not None and release.keys:
        least = LeastUnits(statistics.presence(), settings.min_units)
    elif release.is_found and release.keys and selection is None and not responses:
        least = LeastUnits(statistics.presence(of_rows=True), None)
    terms = Terms(
        release.source, release.keys, domains, tuple(statistics.found), selections.found()
    )
    chain, reasons = limited(terms, facts, settings)
    notes = (*reasons, *selections.notes)
    if least is not None and least.units is None:
        notes = (*notes, _FOUND)
    if any(counted(output.formula) is not None for output in (*formulas, *chosen)):
        notes = (*notes, _OF_NO_ROWS)
    found = BoundedRelease(chain, (*formulas, *chosen), selection, notes, least)
    cheaper = _cheaper(chain, facts)
    if cheaper is None:
        return found
    bounding, note = cheaper
    return replace(found, bounding=bounding, notes=(*notes, note))


def _cheaper(limited: Limited, facts: Facts) -> Chosen | None:
    """The first that can be had of what takes less time than to sum unit by unit."""
    match limited:
        case OneRowPerUnit():
            return None
        case LimitGroups():
            return (
                split_rows(limited, facts)
                or sum_early(limited, facts)
                or draw_groups(limited)
                or count_first(limited)
            )
        case missing:
            assert_never(missing)


def _is_summed(call: AggregateCall) -> bool:
    """What limits leave out is counted, also of what is chosen."""
    return call.function not in CHOSEN or call.part in LEFT_OUT
