"""Rows are grouped once: by their unit where a limit may bind it, and all others in no unit.

| level     | one row per                        | columns                          |
| --------- | ---------------------------------- | -------------------------------- |
| sums      | group, and unit that may be bound  | number of rows, sums of terms    |
| unlimited | group                              | sums of no unit, in integers     |
| limited   | group                              | all other sums, limited, summed  |

Which rows are of no unit, and why no limit binds theirs, is the strategy's. Where it counts units,
each such row is its unit's only one in its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.key_cells import OF_UNITS
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.centered_sum import centered_steps, uncentered_sums
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.contributions import (
    group_names,
    grouped_names,
    select_from,
    totals_by_cell,
)
from dpsql.emit.release.limited_sums import limited_totals
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.physical.cost import has_few_groups
from dpsql.physical.emission import NO_DOMAINS
from dpsql.physical.strategy.unlimited_sums import totals_of
from dpsql.plan.bounded_release.bounded_release import Contributions, LimitGroups
from dpsql.plan.bounded_release.column_names import ROW_COUNT, UNIT

_SUMS: Final = "sums"


def totals_of_bound_units(
    limited: LimitGroups,
    terms: Contributions,
    rows: exp.Select,
    bound: exp.Expr,
    late: frozenset[int],
    condition: exp.Expr | None = None,
) -> exp.Select:
    """The totals of groups, of `rows` of `terms`, each of which is of the unit `bound`, if any.

    Where they are grouped, `condition` is asked, which all of them meet.
    """
    of_all = _sums(terms, rows, bound, late).where(condition, copy=False)
    sums = _in_cells(of_all, terms, late)
    names = sums.named_selects
    of_units = _sums_of(names, are_limited=True)
    of_none = _sums_of([name for name in names if name != UNIT], are_limited=False)
    keyed = {UNIT, *group_names(terms)}
    few = has_few_groups(terms)
    totals = [
        centered_steps(s, number, has_few_rows=few) if s.needs_sum else column_ref(ROW_COUNT)
        for number, s in enumerate(terms.statistics)
    ]
    summed = [name for name in names if name not in keyed]
    unlimited = totals_of(of_none, terms, NO_DOMAINS, summed, totals, counted=ROW_COUNT)
    both = limited_totals(limited, of_units, NO_DOMAINS, unlimited=unlimited)
    return both.with_(_SUMS, as_=sums, materialized=True, copy=False)


def _in_cells(sums: exp.Select, terms: Contributions, late: frozenset[int]) -> exp.Select:
    """The same `sums` with the cells of `late` domains in place of their keys, for both parts."""
    if not late:
        return sums
    keyed = set(grouped_names(terms, late))
    carried = [name for name in sums.named_selects if name not in keyed]
    items = list(map(column_ref, (*group_names(terms), *carried)))
    return totals_by_cell(sums, terms, late, carried, items, counted=ROW_COUNT, limit=OF_UNITS)


def unit_unless(is_unlimited: exp.Expr) -> exp.Expr:
    """The unit of a row that a limit may bind, and NULL of one for which `is_unlimited`."""
    none = exp.case().when(is_unlimited, exp.null(), copy=False)
    return none.else_(column_ref(UNIT), copy=False)


def _sums(
    terms: Contributions, rows: exp.Select, bound: exp.Expr, late: frozenset[int]
) -> exp.Select:
    """Sums of clamped terms by group, and by unit where a limit may bind it."""
    groups = [column_ref(name) for name in grouped_names(terms, late)]
    items = {ROW_COUNT: number_of_rows()}
    for number, statistic in enumerate(terms.statistics):
        if statistic.needs_sum:
            items |= uncentered_sums(statistic, number)
    sums = [with_alias(item, name) for name, item in items.items()]
    select = select_from(rows, [with_alias(bound, UNIT), *groups, *sums])
    return select.group_by(bound.copy(), *(g.copy() for g in groups), copy=False)


def _sums_of(names: Sequence[str], *, are_limited: bool) -> exp.Select:
    """The columns `names` of sums by unit, or of all others.

    That there are rows is asked, too, so that DuckDB doesn't ask each row for its unit: a condition
    on that alone would be asked below GROUP BY.
    """
    of_none: exp.Expr = exp.Is(this=column_ref(UNIT), expression=exp.null())
    wanted = exp.Not(this=of_none) if are_limited else of_none
    some = exp.GT(this=column_ref(ROW_COUNT), expression=integer(0))
    sums = select_of(map(column_ref, names), table(_SUMS))
    return sums.where(exp.case().when(some, wanted, copy=False), copy=False)
