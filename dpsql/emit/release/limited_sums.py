"""Units' sums in groups, limited and summed: what was proved is what is emitted.

| level    | one row per        | columns                                                   |
| -------- | ------------------ | --------------------------------------------------------- |
| terms    | row of the source  | unit, groups, and each statistic's term before its clamp   |
| partials | unit and group     | number of rows, sums of clamped terms; keys become cells   |
| scaled   | the same           | sums as integers, scaled down where rows are too many      |
| clamped  | the same           | sums within their intervals; then groups, and rows in all  |
| totals   | group              | sums of integers                                           |
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sqlglot import exp

from dpsql.analysis.unit_contribution import partial_bound, partial_interval, rows_per_group
from dpsql.emit.dialect.clamp import clamp_to
from dpsql.emit.dialect.key_cells import OF_UNITS
from dpsql.emit.dialect.nodes import integer, narrow, share
from dpsql.emit.release.centered_sum import centered_steps, uncentered_sums
from dpsql.emit.release.contribution import number_of_rows, sum_of
from dpsql.emit.release.contributions import (
    group_names,
    grouped,
    grouped_names,
    select_from,
    totals_by_cell,
)
from dpsql.emit.release.group_limit import limit_groups
from dpsql.emit.release.norm_limit import scaled_to_norm, whole_in_parts
from dpsql.emit.release.total_row_limit import (
    counted_rows,
    limited_rows,
    only_sum,
    rows_that_reach,
    weight_of,
)
from dpsql.emit.release.unit_weights import with_weights
from dpsql.emit.sql.identifier import column_ref, union_all, with_alias
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    Contributions,
    LimitGroups,
)
from dpsql.plan.bounded_release.column_names import ROW_COUNT, UNIT, WEIGHT, total_name
from dpsql.plan.bounded_release.statistic import CappedSum, Statistic, UnitsOverLimit
from dpsql.plan.bounded_release.unit_weight import UnitWeight

NO_VALUES: Final[Mapping[int, exp.Expr]] = MappingProxyType({})


def unit_group_sums(
    contributions: Contributions,
    rows: exp.Select,
    late: frozenset[int],
    unclamped: Mapping[int, exp.Expr] = NO_VALUES,
) -> exp.Select:
    """Each unit's sums in each group, of `rows` as `emit_contributions` gives them.

    Of the statistics in `unclamped`, by index, of these values, which the rows have within bounds.
    """
    by = [column_ref(name) for name in (UNIT, *grouped_names(contributions, late))]
    items = unit_sums(contributions, unclamped).items()
    return grouped(rows, by, [with_alias(item, name) for name, item in items])


def unit_sums(
    contributions: Contributions, unclamped: Mapping[int, exp.Expr] = NO_VALUES
) -> dict[str, exp.Expr]:
    """What is summed over a unit's rows in a group: how many they are, and their terms."""
    sums: dict[str, exp.Expr] = {ROW_COUNT: number_of_rows()}
    for index, statistic in enumerate(contributions.statistics):
        if statistic.needs_sum:
            value = unclamped.get(index)
            sums |= uncentered_sums(statistic, index, of_unit=True, unclamped=value)
    return sums


def limited_totals(
    limited: LimitGroups,
    sums: exp.Select,
    late: frozenset[int],
    *,
    unlimited: exp.Select | None = None,
    are_chosen: bool = False,
    has_few_rows: bool = False,
) -> exp.Select:
    """Each unit's `sums` in each group, limited, and then summed by group.

    `unlimited` are totals of other units by group, which are added. Where units' groups
    `are_chosen` already, sums are in no others; where each of them `has_few_rows`, no unit has more
    in all its groups than count. Of the domains `late`, `sums` have the keys in place of cells.
    """
    terms = limited.contributions
    names = group_names(terms)
    groups = [column_ref(name) for name in names]
    numbered = list(enumerate(terms.statistics))
    max_rows = None if has_few_rows else limited.rows
    is_ranked = isinstance(limited.limit, ByHash | ByRank | ByStoredRank)
    norm = limited.limit if isinstance(limited.limit, ByNorm) else None
    if norm is not None and limited.rows is not None:
        raise ValueError("a norm is of a unit's sums in a group, which would be in several rows")
    limits_all = max_rows is not None or norm is not None
    is_weighed = terms.weighs_units
    units = [UNIT] if is_ranked or limits_all or is_weighed else []
    keyed = {UNIT, *grouped_names(terms, late)}
    columns = [name for name in sums.named_selects if name not in keyed]
    carried = [*map(column_ref, units), *groups]
    steps = [with_alias(centered_steps(s, n), total_name(n)) for n, s in numbered if s.needs_sum]
    scaled = [with_alias(_scaled_partial(s, n, limited), total_name(n)) for n, s in numbered]
    clamped = [with_alias(_clamped_partial(s, n, limited), total_name(n)) for n, s in numbered]
    # In the order of the sums: DuckDB hands on columns in another one row by row.
    counted = totals_by_cell(
        sums,
        terms,
        late,
        [*units, *columns],
        [*carried, column_ref(ROW_COUNT), *steps],
        counted=ROW_COUNT,
        limit=OF_UNITS,
    )
    alone = None if max_rows is None else only_sum(terms.statistics)
    needs_weight = limits_all and alone is None and weight_of(terms.statistics) == WEIGHT
    weights = [with_alias(counted_rows(rows_per_group(limited)), WEIGHT)] if needs_weight else []
    bounded = select_from(
        select_from(counted, [*carried, *weights, *scaled]),
        [*carried, *(column_ref(item.alias) for item in weights), *clamped],
    )
    if alone is not None:
        reached = rows_that_reach(terms.statistics[alone], alone, rows_per_group(limited))
        shown = [*carried, *(column_ref(total_name(n)) for n, _ in numbered)]
        bounded = select_from(bounded, [*shown, with_alias(reached, WEIGHT)])
    sums_of_units: exp.Query = bounded if are_chosen else limit_groups(bounded, limited, names)
    if is_weighed:
        weight_columns = [column_ref(item.alias) for item in weights]
        sums_of_units = with_weights(sums_of_units, [*carried, *weight_columns], terms.statistics)
    if max_rows is not None:
        sums_of_units = limited_rows(sums_of_units, names, limited, max_rows)
    if norm is not None:
        sums_of_units = scaled_to_norm(sums_of_units, names, limited, norm)
    if unlimited is not None:
        shown = [*groups, *(column_ref(total_name(n)) for n, _ in numbered)]
        whole = _in_parts(limited, unlimited)
        both = exp.union(select_from(sums_of_units, shown), whole, distinct=False, copy=False)
        sums_of_units = union_all(both)
    return _summed(limited, sums_of_units)


def totals_without_limits(limited: LimitGroups, unlimited: exp.Select) -> exp.Select:
    """What `limited_totals` is of these totals where there are no sums of other units."""
    return _summed(limited, _in_parts(limited, unlimited))


def _in_parts(limited: LimitGroups, unlimited: exp.Select) -> exp.Select:
    """The `unlimited` totals in the parts of one that a norm gives units' sums in."""
    if not isinstance(limited.limit, ByNorm):
        return unlimited
    terms = limited.contributions
    whole = whole_in_parts(terms.statistics, limited.limit)
    return select_from(unlimited, [*map(column_ref, group_names(terms)), *whole])


def _summed(limited: LimitGroups, sums: exp.Query) -> exp.Select:
    """The `sums` of each group in all."""
    terms = limited.contributions
    numbers = range(len(terms.statistics))
    items = [with_alias(total_of(number), total_name(number)) for number in numbers]
    return grouped(sums, list(map(column_ref, group_names(terms))), items)


def total_of(number: int) -> exp.Expr:
    """The sum of a statistic over the units of a group, or parts of these; 0 of none."""
    summed = sum_of(column_ref(total_name(number)))
    return exp.Coalesce(this=summed, expressions=[integer(0)])


def _scaled_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, scaled down if it has too many rows there; `//` goes toward 0."""
    rows = rows_per_group(limited)
    if isinstance(statistic.term, UnitsOverLimit):
        many = exp.GT(this=column_ref(ROW_COUNT), expression=integer(rows))
        return exp.case().when(many, integer(1), copy=False).else_(integer(0), copy=False)
    if not statistic.is_row_sum:
        return integer(1)
    if statistic.is_row_count:
        return counted_rows(rows)
    total = column_ref(total_name(number))
    if isinstance(statistic.term, CappedSum):
        return total  # however many rows it is of, no more than its cap is left of it
    scaled = share(total.copy(), integer(rows), column_ref(ROW_COUNT))
    many = exp.GT(this=column_ref(ROW_COUNT), expression=integer(rows))
    return exp.case().when(many, scaled, copy=False).else_(total, copy=False)


def _clamped_partial(statistic: Statistic, number: int, limited: LimitGroups) -> exp.Expr:
    """A unit's sum in a group, within the very interval that its sensitivity is derived from."""
    bound = partial_bound(statistic, limited)
    if isinstance(statistic.term, UnitsOverLimit) or statistic.is_row_count:
        return column_ref(total_name(number))  # scaling left no more
    if isinstance(statistic.term, UnitWeight):
        return integer(0)  # it is known when the groups of the unit are
    if not statistic.is_row_sum:
        return integer(bound)
    low, high = partial_interval(statistic, limited)
    clamped = clamp_to(exp.case(), column_ref(total_name(number)), integer(low), integer(high))
    return narrow(clamped, low, high)
