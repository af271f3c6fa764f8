"""Bound a release: clamp what is summed, limit what a unit contributes, enumerate the keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.unit_identity import unit_valued_columns
from dpsql.analysis.public_row_count import PublicSize, public_size
from dpsql.analysis.row_norms import declared_norms
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.alert_conditions import bound_alert, is_alert
from dpsql.bounding.contribution_limit import limit_contributions
from dpsql.bounding.expert_losses import bound_decision, is_decision
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ALL_GROUPS, AS_DECLARED, ContributionLimits, ReleaseOptions
from dpsql.bounding.public_bounds import with_public_bounds
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.randomized_response import estimate_true_answers
from dpsql.bounding.randomized_response_keys import check_groups
from dpsql.bounding.selection.cell_selection import CHOSEN, CellChoices
from dpsql.bounding.selection.frequent_key import frequent_choice, frequent_notes
from dpsql.bounding.selection.private_selection import candidate_choice
from dpsql.bounding.statistics.argument_grids import ArgumentGrids
from dpsql.bounding.statistics.key_count import key_count, weighing_notes
from dpsql.bounding.statistics.sample_estimator import of_sample
from dpsql.bounding.statistics.statistics import StatisticsBuilder
from dpsql.bounding.statistics.sum_caps import NO_CAPS, sum_caps
from dpsql.errors import InternalError, Refused
from dpsql.plan.aggregate import LEFT_OUT, AggregateCall
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Contributions,
    MinUnits,
    OneRowPerUnit,
    integer_parts,
)
from dpsql.plan.bounded_release.estimator import (
    ChosenValue,
    EstimatedColumn,
    QuantileValue,
    row_count_index,
)
from dpsql.plan.bounded_release.statistic import RowCount, Statistic
from dpsql.plan.operator import Release
from dpsql.plan.prune_columns import prune_release
from dpsql.privacy.subsampling import PoissonSampling
from dpsql.structs import replace

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
    table_kind: str | None = None,
    sampling: PoissonSampling | None = None,
) -> BoundedRelease:
    """`release` as integers within limits: everything a sensitivity will be derived from.

    `sampling` is how the units are drawn whose rows are read; what is estimated is of all units.
    `table_kind` is what is kept, whole, of all cells of its keys: a synopsis, or a dashboard.
    """
    if table_kind is not None and sampling is not None:
        raise Refused(
            f"a {table_kind} of a sample isn't one of all units",
            hint="ask the queries: each is scaled to all units",
            note="sampling",
        )
    if is_decision(release) or is_alert(release):
        return _drawn_whole(release, facts, limits.sampled(), is_of_sample=sampling is not None)
    if table_kind is not None:
        limits = limits.sampled()  # what it weighs are rows, not parts of them
    read = with_public_bounds(prune_release(release), facts)
    release, responses, key = estimate_true_answers(read)
    below = column_domains(release.source)
    domains = key_domains(release.keys, release.source, release.key_source, below, facts)
    if table_kind is None:
        domains = limit_cells(domains)  # a whole table lists all, or is refused
    if key is not None:
        check_groups(key, domains, release, options, table_kind)
    draft, _ = limit_contributions(
        Contributions(release.source, release.keys, domains, ()), facts, limits
    )
    calls = [output.call for output in release.aggregates]
    grids = ArgumentGrids(
        below,
        declared_norms(release.source),
        # What people hid is estimated by what is linear in their answers.
        NO_CAPS if responses else sum_caps(limits, calls),
        rows_per_group(draft),
        rows_are_units=isinstance(draft, OneRowPerUnit),
        keys=tuple(key.expression for key in release.keys) if sampling is None else (),
    )
    statistics = StatisticsBuilder(
        grids,
        unit_valued_columns(release.source),
        nonnegative=options.nonnegative,
        per_unit=rows_per_group(draft),
        size=PublicSize() if release.keys else public_size(release.source),
        responses=responses,
        answer_key=key,
        sampling=sampling,
    )
    summed = tuple(a for a in release.aggregates if _is_summed(a.call))
    formulas = statistics.estimators(summed)
    selections = CellChoices(below)
    best = None if release.candidates is None else candidate_choice(release.candidates, facts)
    if release.frequent is not None:
        best = frequent_choice(release.frequent, nonnegative=options.nonnegative)
    candidates, shown = best or ((), ())
    rows = Statistic(RowCount(), None)
    count_index = statistics.statistics.index(rows) if rows in statistics.statistics else None
    chosen = selections.estimators(
        tuple(a for a in release.aggregates if a not in summed), count_index
    )
    if sampling is not None:
        chosen = tuple(_of_sample(output, sampling, statistics.per_unit) for output in chosen)
    # Without a public list of all its keys, a group shows itself only if enough units are in it.
    choices = (*candidates, *selections.choices())
    draft_terms = Contributions(
        release.source, release.keys, domains, tuple(statistics.statistics), choices
    )
    selection = None
    if draft_terms.unlisted_keys:
        are_scaled = integer_parts(limit_contributions(draft_terms, facts, limits)[0]) > 1
        selection = key_count(statistics, draft, options, are_scaled=are_scaled)
    min_units = None
    if options.min_units is not None and release.keys:
        drawn = Fraction(1) if sampling is None else sampling.drawn
        min_units = MinUnits(statistics.presence(), math.ceil(options.min_units * drawn))
    elif release.hides_empty_groups and release.keys and selection is None and not responses:
        min_units = MinUnits(statistics.presence(of_rows=True), None)
    terms = replace(draft_terms, statistics=tuple(statistics.statistics))
    chain, reasons = limit_contributions(terms, facts, limits)
    if release.frequent is not None:
        # Its rows are limited key by key, and in all not at all.
        reasons = frequent_notes(release.frequent)
    notes = (*reasons, *grids.cap_notes(calls), *weighing_notes(terms), *selections.notes)
    notes += () if sampling is None else (_sample_note(sampling),)
    notes += _notes_on_empty_groups((*formulas, *chosen), min_units)
    outputs = (*formulas, *chosen, *shown)
    return BoundedRelease(chain, outputs, selection, notes, min_units, sampling)


def _notes_on_empty_groups(
    outputs: Sequence[EstimatedColumn], min_units: MinUnits | None
) -> tuple[str, ...]:
    hidden = min_units is not None and min_units.threshold is None
    has_nulls = any(row_count_index(output.estimator) is not None for output in outputs)
    return (_GROUPS_WITH_ROWS_NOTE,) * hidden + (_OF_NO_ROWS,) * has_nulls


def _drawn_whole(
    release: Release, facts: Facts, limits: ContributionLimits, *, is_of_sample: bool
) -> BoundedRelease:
    """A release that one mechanism draws, of rows and not of parts of them."""
    if is_decision(release):
        return bound_decision(release, facts, limits)
    return bound_alert(release, facts, limits, is_of_sample=is_of_sample)


def _of_sample(
    output: EstimatedColumn, sampling: PoissonSampling, per_unit: int
) -> EstimatedColumn:
    match output.estimator:
        case QuantileValue() | ChosenValue() as chosen:
            return replace(output, estimator=of_sample(chosen, sampling, per_unit))
        case _:
            raise InternalError("a choice has another estimator")


def _sample_note(sampling: PoissonSampling) -> str:
    return (
        f"of a secret sample, which each unit is in with probability {float(sampling.rate):g}:"
        " counts and sums are scaled to all units"
    )


def _is_summed(call: AggregateCall) -> bool:
    """What limits leave out is counted, also of what is chosen."""
    return call.function not in CHOSEN or call.output_kind in LEFT_OUT
