"""Counts and sums of distinct values: they can't be summed over units, who may share them.

| level   | one row per             | what is left                                       |
| ------- | ----------------------- | -------------------------------------------------- |
| pairs   | unit, group and value   | every value a unit has                              |
| kept    | the same                | those in the unit's kept groups                      |
| limited | the same                | so many values of each unit in a group, by keyed hash |
| counted | group                   | distinct values that any unit has left: number or sum |
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from dpsql.analysis.unit_contribution import values_per_group
from dpsql.emit.dialect.nodes import as_steps, integer
from dpsql.emit.release.contribution import in_range, sum_of
from dpsql.emit.release.contributions import group_names, grouped, select_from
from dpsql.emit.release.group_limit import limit_groups, rank_by_hash
from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import column_ref, subquery, with_alias
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.column_names import UNIT, term_names, total_name
from dpsql.plan.bounded_release.statistic import DistinctSum, DistinctValues


def of_distinct_values(term: DistinctValues | DistinctSum, number: int) -> exp.Expr:
    """The count or sum of distinct values of statistic `number` that units have left."""
    value = column_ref(term_names(number)[0])
    match term:
        case DistinctValues():
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case DistinctSum(value=discretized):
            steps = in_range(discretized, as_steps(discretized, value))
            return sum_of(exp.Distinct(expressions=[steps]))
        case missing:
            assert_never(missing)


def with_distinct(totals: exp.Select, limited: LimitGroups, rows: exp.Select) -> exp.Select:
    """`totals` beside what distinct values make, all for the same groups."""
    terms = limited.contributions
    distinct = [
        (n, s.term)
        for n, s in enumerate(terms.statistics)
        if isinstance(s.term, DistinctValues | DistinctSum)
    ]
    if not distinct:
        return totals
    names = group_names(terms)
    numbers = {
        n: exp.Coalesce(this=column_ref(total_name(n), table=_alias(n)), expressions=[integer(0)])
        for n, _ in distinct
    }
    items: list[exp.Expr] = [column_ref(name, table="t") for name in names]
    items += [
        with_alias(numbers.get(n, column_ref(total_name(n), table="t")), total_name(n))
        for n in range(len(terms.statistics))
    ]
    select = select_of(items, subquery(totals, "t"))
    for n, term in distinct:
        same = [
            exp.NullSafeEQ(this=column_ref(g, table="t"), expression=column_ref(g, table=_alias(n)))
            for g in names
        ]
        counts = subquery(_counted(term, n, limited, rows), _alias(n))
        joined(select, counts, "LEFT", exp.and_(*same, copy=False) if same else exp.true())
    return select


def _alias(statistic: int) -> str:
    """What the distinct values' own totals of a statistic are called where they are joined."""
    return f"d{statistic}"


def _counted(
    term: DistinctValues | DistinctSum, number: int, limited: LimitGroups, rows: exp.Select
) -> exp.Select:
    names = group_names(limited.contributions)
    groups = [column_ref(name) for name in names]
    value = column_ref(term_names(number)[0])
    # Groups are chosen among all the unit's, as they are for its sums: rows without a value, too.
    pairs = grouped(rows.copy(), [column_ref(UNIT), *groups, value], [])
    in_groups = limit_groups(pairs, limited, names, rank="dense_rank")
    rank = rank_by_hash(limited, "row_number", groups, [value])
    max_values = values_per_group(term.limit, limited)
    limited_values = (
        select_from(in_groups, [exp.Star()])
        .where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.null())), copy=False)
        .qualify(exp.LTE(this=rank, expression=integer(max_values)), copy=False)
    )
    total = with_alias(of_distinct_values(term, number), total_name(number))
    return grouped(limited_values, groups, [total])
