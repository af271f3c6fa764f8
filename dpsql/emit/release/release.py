"""A bounded release as engine SQL: what was proved is what is emitted, number for number.

| level    | one row per        | columns                                            |
| -------- | ------------------ | -------------------------------------------------- |
| terms    | row of the source  | unit u, groups g0 …, values v0 …, then r0 … to clamp |
| partials | unit and group     | rows n, sums s0 … of clamped terms; keys become cells |
| scaled   | the same           | sums as integers, scaled down where n is too large  |
| clamped  | the same           | sums within their intervals; then groups, and rows in all |
| totals   | group              | sums s0 … of integers, and what distinct values make |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from sqlglot import exp

from dpsql.analysis.sensitivity import partial_bound, partial_interval, rows_per_group
from dpsql.emit.release.centered_sum import centered_steps, uncentered_sums
from dpsql.emit.release.contribution import clamp_to, number_of_rows, sum_of
from dpsql.emit.release.contributions import (
    emit_contributions,
    group_names,
    grouped,
    grouped_names,
    join_keys,
    late_key_joins,
    select_from,
)
from dpsql.emit.release.distinct_count import with_distinct
from dpsql.emit.release.group_limit import limit_groups
from dpsql.emit.release.histogram import histogram
from dpsql.emit.release.total_row_limit import WEIGHT, counted_rows, limited_rows, weight_of
from dpsql.emit.sql.function_call import narrowest_cast
from dpsql.emit.sql.identifier import column_ref, union_all, with_alias
from dpsql.emit.sql.literal import integer
from dpsql.emit.sql.render import rendered
from dpsql.emit.strategy.aggregate_below_join import aggregate_below_join
from dpsql.emit.strategy.choose_groups_first import chosen_group_rows, with_chosen_groups
from dpsql.emit.strategy.clamp_elimination import tested_columns
from dpsql.emit.strategy.count_units_first import rows_of_units, with_unit_counts
from dpsql.emit.strategy.one_row_per_unit import row_totals
from dpsql.emit.strategy.stored_unit_sums import stored_unit_sums
from dpsql.emit.strategy.unit_batches import can_be_batched, one_batch, sum_of_batches
from dpsql.emit.strategy.unlimited_sums import unlimited_totals
from dpsql.plan.bounded_release.bounded_release import (
    AggregateBelowJoin,
    BoundedRelease,
    ByHash,
    ChooseGroupsFirst,
    Contributions,
    CountUnitsFirst,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    PerUnit,
    PhysicalPlan,
    SplitByContribution,
    StoredUnitSums,
    UnlimitedRows,
)
from dpsql.plan.bounded_release.engine_query import DomainTable, EngineQuery, Histogram
from dpsql.plan.bounded_release.statistic import Statistic, UnitsOverLimit
from dpsql.plan.operator import Release


def emit_release(
    bounded: BoundedRelease, releases: Mapping[Release, str], *, in_batches: bool = False
) -> EngineQuery:
    """The statement whose integers `bounded` adds noise to, and those whose cells it chooses by.

    If `in_batches`, they may be of one part of the units each time; else ValueError.
    """
    if in_batches and not can_be_batched(bounded):
        raise ValueError("what isn't told apart by units would be found in each part")
    terms = bounded.contributions
    domains = tuple(
        DomainTable(
            f"domain_{place}",
            tuple(terms.keys[key].expression.type for key in found.keys),
            found.cells,
        )
        for place, found in enumerate(terms.domains)
    )
    part = one_batch if in_batches else _all_units
    limited, late = bounded.limited, late_key_joins(terms)
    with_unit = isinstance(limited, LimitGroups)
    match limited:
        case OneRowPerUnit():
            rows = emit_contributions(terms, releases, with_unit=False, late=late)
            select = row_totals(terms, rows, late)
        case LimitGroups():
            select = _limited_totals(limited, bounded.physical_plan, releases, late, part)
            if any(s.is_over_distinct_values for s in terms.statistics):
                rows = emit_contributions(terms, releases, with_unit=True)
                select = with_distinct(select, limited, rows)
        case missing:
            assert_never(missing)
    totals, cells = _are_sums(terms) if in_batches else (None, None)
    counted = [
        histogram(limited, part(emit_contributions(terms, releases, with_unit=with_unit)), number)
        for number in range(len(terms.cell_choices))
    ]
    return EngineQuery(
        rendered(select),
        domains,
        in_batches or _is_salted(limited),
        tuple(Histogram(rendered(h), with_unit, cells) for h in counted),
        totals,
    )


def _limited_totals(
    limited: LimitGroups,
    plan: PhysicalPlan,
    releases: Mapping[Release, str],
    late: frozenset[int],
    batch: Callable[[exp.Select], exp.Select],
) -> exp.Select:
    """The least work that gives the same integers: what to do first, the planner found."""
    terms = limited.contributions
    match plan:
        case PerUnit():
            rows = batch(emit_contributions(terms, releases, with_unit=True, late=late))
            return _partial_totals(limited, _unit_groups(terms, rows, late), late, None)
        case AggregateBelowJoin():
            partials = aggregate_below_join(terms, plan, releases, late, _unit_sums(terms))
            return _partial_totals(limited, partials, late, None)
        case SplitByContribution(rest=heavy):
            light = _unlimited(plan, releases, late)
            rest = _unit_groups(
                heavy, emit_contributions(heavy, releases, with_unit=True, late=late), late
            )
            return _partial_totals(limited, rest, late, light)
        case CountUnitsFirst():
            rows = emit_contributions(terms, releases, with_unit=True, late=late)
            light = unlimited_totals(terms, rows_of_units(unlimited=True), late)
            rest = _unit_groups(terms, rows_of_units(unlimited=False), late)
            return with_unit_counts(_partial_totals(limited, rest, late, light), rows, plan)
        case ChooseGroupsFirst():
            # DuckDB takes few of the rows to be in cells, and would keep those in memory for a
            # join with their units.
            rows = batch(emit_contributions(terms, releases, with_unit=True, inner_key_joins=False))
            light = unlimited_totals(terms, chosen_group_rows(limited, unlimited=True), frozenset())
            rest = _unit_groups(terms, chosen_group_rows(limited, unlimited=False), frozenset())
            totals = _partial_totals(limited, rest, frozenset(), light, chosen=True)
            return with_chosen_groups(totals, rows, limited, plan)
        case missing:
            assert_never(missing)


def _all_units(rows: exp.Select) -> exp.Select:
    return rows


def _are_sums(contributions: Contributions) -> tuple[str, str]:
    """What sums totals of parts, and what sums their counts of cells."""
    names, sums = (
        group_names(contributions),
        [f"s{number}" for number in range(len(contributions.statistics))],
    )
    return rendered(sum_of_batches(names, sums)), rendered(sum_of_batches([*names, "p"], ["n"]))


def _unlimited(
    plan: SplitByContribution, releases: Mapping[Release, str], late: frozenset[int]
) -> exp.Select:
    match plan.unlimited:
        case StoredUnitSums() as stored:
            return stored_unit_sums(stored, releases, late)
        case UnlimitedRows(contributions=terms, no_clamp=asked):
            handed = () if asked is None else tested_columns(asked, terms.statistics)
            rows = emit_contributions(terms, releases, with_unit=False, late=late, extra=handed)
            return unlimited_totals(terms, rows, late, asked)
        case missing:
            assert_never(missing)


def _unit_groups(
    contributions: Contributions, rows: exp.Select, late: frozenset[int]
) -> exp.Select:
    """Each unit's sums in each group."""
    by = [column_ref(name) for name in ("u", *grouped_names(contributions, late))]
    return grouped(
        rows, by, [with_alias(item, name) for name, item in _unit_sums(contributions).items()]
    )


def _unit_sums(contributions: Contributions) -> dict[str, exp.Expr]:
    """What is summed over a unit's rows in a group: how many they are, and their terms."""
    sums: dict[str, exp.Expr] = {"n": number_of_rows()}
    for place, statistic in enumerate(contributions.statistics):
        if statistic.needs_sum:
            sums |= uncentered_sums(statistic, place)
    return sums


def _partial_totals(
    limited: LimitGroups,
    sums: exp.Select,
    late: frozenset[int],
    unlimited: exp.Select | None,
    *,
    chosen: bool = False,
) -> exp.Select:
    """Each unit's sums in each group, limited, and then summed: with those of `unlimited` rows.

    Where its groups are `chosen`, there are no others.
    """
    terms = limited.contributions
    names = group_names(terms)
    groups = [column_ref(name) for name in names]
    numbered = list(enumerate(terms.statistics))
    summed = [n for n, s in numbered if s.needs_sum]
    in_all = limited.rows
    owned = ["u"] if isinstance(limited.limit, ByHash) or in_all is not None else []
    keyed = {"u", *grouped_names(terms, late)}
    columns = [name for name in sums.named_selects if name not in keyed]
    partials = join_keys(sums, terms, late, [*owned, *columns])
    carried = [*map(column_ref, owned), *groups]
    steps = [with_alias(centered_steps(terms.statistics[n], n), f"s{n}") for n in summed]
    scaled = [with_alias(_scaled_partial(s, n, limited), f"s{n}") for n, s in numbered]
    clamped = [with_alias(_clamped_partial(s, n, limited), f"s{n}") for n, s in numbered]
    counted = select_from(partials, [*carried, column_ref("n"), *steps])
    weighed = in_all is not None and weight_of(terms.statistics) == WEIGHT
    weights = [with_alias(counted_rows(rows_per_group(limited)), WEIGHT)] if weighed else []
    bounded = select_from(
        select_from(counted, [*carried, *weights, *scaled]),
        [*carried, *(column_ref(item.alias) for item in weights), *clamped],
    )
    kept = bounded if chosen else limit_groups(bounded, limited, names)
    if in_all is not None:
        kept = limited_rows(kept, names, terms.statistics, in_all)
    if unlimited is not None:
        shown = [*groups, *(column_ref(f"s{n}") for n, _ in numbered)]
        kept = union_all(exp.union(select_from(kept, shown), unlimited, distinct=False, copy=False))
    totals = [
        with_alias(
            exp.Coalesce(this=sum_of(column_ref(f"s{n}")), expressions=[integer(0)]), f"s{n}"
        )
        for n, _ in numbered
    ]
    return grouped(kept, groups, totals)


def _scaled_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, scaled down if it has too many rows there; `//` goes toward 0."""
    rows = rows_per_group(limited)
    if isinstance(statistic.term, UnitsOverLimit):
        many = exp.GT(this=column_ref("n"), expression=integer(rows))
        return exp.case().when(many, integer(1), copy=False).else_(integer(0), copy=False)
    if not statistic.is_row_sum:
        return integer(1)
    if statistic.is_row_count:
        return counted_rows(rows)
    total = column_ref(f"s{number}")
    scaled = exp.IntDiv(
        this=exp.Paren(this=exp.Mul(this=total.copy(), expression=integer(rows))),
        expression=column_ref("n"),
    )
    many = exp.GT(this=column_ref("n"), expression=integer(rows))
    return exp.case().when(many, scaled, copy=False).else_(total, copy=False)


def _clamped_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, within the very interval that its sensitivity is derived from."""
    bound = partial_bound(statistic, limited)
    if isinstance(statistic.term, UnitsOverLimit) or statistic.is_row_count:
        return column_ref(f"s{number}")  # scaling left no more
    if not statistic.is_row_sum:
        return integer(bound)
    low, high = partial_interval(statistic, limited)
    clamped = clamp_to(exp.case(), column_ref(f"s{number}"), integer(low), integer(high))
    return narrowest_cast(clamped, low, high)


def _is_salted(limited: Limited) -> bool:
    """Groups, or values in them, are chosen by a hash."""
    match limited:
        case OneRowPerUnit():
            return False
        case LimitGroups(limit=limit, contributions=terms):
            return isinstance(limit, ByHash) or any(
                s.is_over_distinct_values for s in terms.statistics
            )
        case missing:
            assert_never(missing)
