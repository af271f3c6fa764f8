"""The SQL of a release: by its physical plan, at once, batch by batch, and without a sidecar.

All of it is made when a statement is compiled: nothing is emitted after the charge. What is run
without a sidecar takes a second plan, and up to 4 ms: only an engine that opens a sidecar after the
charge gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.row_estimate import guard_sums
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.release.contributions import emit_contributions, group_names
from dpsql.emit.release.distinct_count import with_distinct
from dpsql.emit.release.histogram import histogram
from dpsql.emit.release.numbered_histogram import numbered_histogram
from dpsql.physical.cached_sums import cached_sums
from dpsql.physical.choose import Choice, choose, choose_without_sidecar
from dpsql.physical.cost import late_key_joins
from dpsql.physical.emission import Emission
from dpsql.physical.modifier.sidecar_access import sidecar_tables
from dpsql.physical.modifier.unit_batches import (
    RowsByName,
    batch_policy,
    is_sum_over_units,
    rows_of_all_units,
    rows_of_one_batch,
    sum_of_batches,
)
from dpsql.physical.numbered_rows import NumberedRows, numbered_rows
from dpsql.physical.plan import PhysicalPlan
from dpsql.physical.strategy.aggregate_below_join import AggregateBelowJoin
from dpsql.physical.strategy.per_unit import PerUnit
from dpsql.physical.strategy.split_by_contribution import Rest, SplitByContribution
from dpsql.physical.strategy.split_in_group_by import SplitInGroupBy
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    Contributions,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    contributions_of,
)
from dpsql.plan.bounded_release.column_names import (
    CELL_NUMBER,
    ROW_COUNT,
    domain_table_name,
    total_name,
)
from dpsql.plan.bounded_release.engine_query import (
    CachedSums,
    DomainTable,
    EngineQuery,
    Histogram,
    UnitBatches,
    UnlimitedQuery,
    WithoutSidecar,
)
from dpsql.plan.operator import Release
from dpsql.structs import replace


class PlannedRelease(Struct, frozen=True):
    """A release with its physical plan, and the SQL of all ways in which it may be run here."""

    choice: Choice
    query: EngineQuery
    batches: UnitBatches | None
    without_sidecar: WithoutSidecar | None
    cached_sums: CachedSums | None
    unlimited: UnlimitedQuery | None


def plan_release(
    bounded: BoundedRelease, facts: Facts, releases: Mapping[Release, str]
) -> PlannedRelease:
    """The cheapest plan of `bounded`, emitted; `releases` are the tables of those that it reads."""
    choice = choose(bounded.limited, facts)
    query, batches = _emitted(bounded, choice, releases)
    tables, fallback = sidecar_tables(choice.limited), None
    if tables and not facts.holds_sidecar():
        others = choose_without_sidecar(bounded.limited, facts)
        fallback = WithoutSidecar(tables, *_emitted(bounded, others, releases))
    cached = cached_sums(bounded, choice.plan, releases)
    unlimited = _unlimited_query(choice, releases)
    return PlannedRelease(choice, query, batches, fallback, cached, unlimited)


def _emitted(
    bounded: BoundedRelease, choice: Choice, releases: Mapping[Release, str]
) -> tuple[EngineQuery, UnitBatches | None]:
    """The statement at once, and batch by batch."""
    plan, limited = choice.plan, choice.limited
    if not can_be_batched(plan, contributions_of(limited)):
        return emit_query(plan, limited, releases), None
    names = RowsByName()
    select, counts = emit_trees(plan, limited, releases, names.name)
    filled = names.filled([select, *counts])
    if filled is None:
        at_once = emit_query(plan, limited, releases)
        batched = emit_query(plan, limited, releases, in_batches=True)
    else:
        at_once = _query(plan, limited, filled[0], in_batches=False)
        batched = _query(plan, limited, filled[1], in_batches=True)
    return at_once, UnitBatches(batched, batch_policy(bounded))


def _unlimited_query(choice: Choice, releases: Mapping[Release, str]) -> UnlimitedQuery | None:
    """What finds the integers where no row is of a unit that a limit may bind."""
    match choice.plan:
        case SplitByContribution(rest=Rest(over_limits=over_limits)) as split:
            plan = replace(split, rest=None)
        case SplitInGroupBy(unlimited=rows, over_limits=over_limits) as split:
            plan = SplitByContribution(split.limited, rows, None, None, None, split.note)
        case _:
            return None
    terms = contributions_of(choice.limited)
    if terms.cell_choices or any(s.is_over_distinct_values for s in terms.statistics):
        return None  # rows and values that are drawn are so of all units
    limited_rows = emit_plan(over_limits, releases).limit(1, copy=False)
    return UnlimitedQuery(rendered(limited_rows), emit_query(plan, choice.limited, releases))


def can_be_batched(plan: PhysicalPlan, contributions: Contributions) -> bool:
    """Whether the integers can be found batch by batch, and take memory that this would save."""
    return plan.is_blocking and is_sum_over_units(contributions)


def emit_query(
    plan: PhysicalPlan,
    limited: Limited,
    releases: Mapping[Release, str],
    *,
    in_batches: bool = False,
) -> EngineQuery:
    """The statement of a release's integers, and those of its cells' counts.

    If `in_batches`, they are of one batch of the units each time; ValueError if `plan` has none.
    """
    if in_batches and not can_be_batched(plan, contributions_of(limited)):
        raise ValueError("what isn't told apart by units would be found in each batch")
    batch = rows_of_one_batch if in_batches else rows_of_all_units
    select, counts = emit_trees(plan, limited, releases, batch)
    return _query(plan, limited, [rendered(select), *map(rendered, counts)], in_batches=in_batches)


def _query(
    plan: PhysicalPlan, limited: Limited, texts: Sequence[str], *, in_batches: bool
) -> EngineQuery:
    """The query of `texts`: of what gives a release's integers, and of its cells' counts."""
    terms, with_unit = contributions_of(limited), isinstance(limited, LimitGroups)
    is_resized = any(scan.table.resized is not None for scan in private_scans(terms.source))
    draws = [
        with_unit and choice.draws_rows and numbered_rows(limited, number) is None
        for number, choice in enumerate(terms.cell_choices)
    ]
    totals, cells = _sums_of_batches(terms) if in_batches else (None, None)
    return EngineQuery(
        texts[0],
        domain_tables(terms),
        in_batches or is_resized or _is_salted(plan, limited),
        tuple(
            Histogram(text, in_batches or is_resized or drawn, cells)
            for text, drawn in zip(texts[1:], draws, strict=True)
        ),
        totals,
    )


def emit_trees(
    plan: PhysicalPlan,
    limited: Limited,
    releases: Mapping[Release, str],
    batch: Callable[[exp.Select], exp.Select] = rows_of_all_units,
) -> tuple[exp.Select, list[exp.Select]]:
    """What gives a release's integers, and what gives its cells' counts, for any dialect.

    `batch` gives, of rows with their units, those that are read.
    """
    terms = contributions_of(limited)
    by_unit = isinstance(plan, PerUnit | AggregateBelowJoin)
    emission = Emission(releases, late_key_joins(terms, by_unit=by_unit), batch)
    with_unit = isinstance(limited, LimitGroups)
    select = plan.emit(emission)
    are_distinct = any(s.is_over_distinct_values for s in terms.statistics)
    if isinstance(limited, LimitGroups) and are_distinct:
        rows = emit_contributions(terms, releases, with_unit=True)
        select = with_distinct(select, limited, rows)
    guard_sums(select, terms.source)
    counts = []
    for number, choice in enumerate(terms.cell_choices):
        stored = numbered_rows(limited, number)
        if stored is not None:
            counts.append(_numbered(stored, number, emission))
            continue
        read, unlimited = terms, None
        if isinstance(plan, SplitByContribution) and plan.rest is not None and choice.draws_rows:
            read = plan.rest.rows
            unlimited = emit_contributions(plan.unlimited, releases, with_unit=False)
        rows = emission.batch(emit_contributions(read, releases, with_unit=with_unit))
        counts.append(histogram(limited, rows, number, unlimited))
    return select, counts


def _numbered(stored: NumberedRows, number: int, emission: Emission) -> exp.Select:
    """What gives a choice's counts where rows are drawn by stored numbers."""

    def rows(contributions: Contributions, *extra: str) -> exp.Select:
        read = emit_contributions(contributions, emission.releases, with_unit=True, extra=extra)
        return emission.batch(read)

    order = stored.order_name
    later = None if stored.later is None else rows(stored.later, order)
    return numbered_histogram(stored.limited, number, rows(stored.numbered), later, order)


def domain_tables(contributions: Contributions) -> tuple[DomainTable, ...]:
    """The tables of key domains that a release reads."""
    return tuple(
        DomainTable(
            domain_table_name(index),
            tuple(contributions.keys[key].expression.type for key in domain.keys),
            domain.cells,
        )
        for index, domain in enumerate(contributions.domains)
    )


def _sums_of_batches(contributions: Contributions) -> tuple[str, str]:
    """What sums totals of batches, and what sums their counts of cells."""
    names = group_names(contributions)
    sums = [total_name(number) for number in range(len(contributions.statistics))]
    return (
        rendered(sum_of_batches(names, sums)),
        rendered(sum_of_batches([*names, CELL_NUMBER], [ROW_COUNT])),
    )


def _is_salted(plan: PhysicalPlan, limited: Limited) -> bool:
    """Groups, or rows in all of them, or values in them, are chosen by a hash of the statement."""
    if isinstance(plan, SplitByContribution) and plan.rest is None:
        return False
    match limited:
        case OneRowPerUnit():
            return False
        case LimitGroups(rows=int()):
            return True
        case LimitGroups(limit=limit, contributions=terms):
            is_drawn = isinstance(limit, ByHash | ByRank | ByStoredRank) or (
                isinstance(limit, ByNorm) and bool(terms.unlisted_keys)
            )
            return is_drawn or any(s.is_over_distinct_values for s in terms.statistics)
        case missing:
            assert_never(missing)
