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

from dpsql.analysis.sensitivity import values_per_group
from dpsql.emit.release.contribution import in_range, steps_of, sum_of
from dpsql.emit.release.contributions import group_names, grouped, select_from
from dpsql.emit.release.group_limit import choose_groups, limit_groups
from dpsql.emit.sql.identifier import column_ref, subquery, with_alias
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.statistic import DistinctSum, DistinctValues


def of_distinct_values(term: DistinctValues | DistinctSum, number: int) -> exp.Expr:
    """The count or sum of distinct values of statistic `number` that units have left."""
    value = column_ref(f"r{number}")
    match term:
        case DistinctValues():
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case DistinctSum(value=found):
            steps = in_range(found, steps_of(found, value))
            return sum_of(exp.Distinct(expressions=[steps]))
        case missing:
            assert_never(missing)


def with_distinct(totals: exp.Select, limited: LimitGroups, rows: exp.Select) -> exp.Select:
    """`totals` beside what distinct values make, all for the same groups."""
    terms = limited.contributions
    found = [
        (n, s.term)
        for n, s in enumerate(terms.statistics)
        if isinstance(s.term, DistinctValues | DistinctSum)
    ]
    if not found:
        return totals
    names = group_names(terms)
    numbers = {
        n: exp.Coalesce(this=column_ref(f"s{n}", table=f"d{n}"), expressions=[integer(0)])
        for n, _ in found
    }
    items: list[exp.Expr] = [column_ref(name, table="t") for name in names]
    items += [
        with_alias(numbers.get(n, column_ref(f"s{n}", table="t")), f"s{n}")
        for n in range(len(terms.statistics))
    ]
    select = exp.select(*items, copy=False).from_(subquery(totals, "t"), copy=False)
    for n, term in found:
        same = [
            exp.NullSafeEQ(this=column_ref(g, table="t"), expression=column_ref(g, table=f"d{n}"))
            for g in names
        ]
        select = select.join(
            _counted(term, n, limited, rows),
            join_type="left",
            join_alias=f"d{n}",
            on=exp.and_(*same, copy=False) if same else exp.true(),
            copy=False,
        )
    return select


def _counted(
    term: DistinctValues | DistinctSum, number: int, limited: LimitGroups, rows: exp.Select
) -> exp.Select:
    names = group_names(limited.contributions)
    groups = [column_ref(name) for name in names]
    value = column_ref(f"r{number}")
    # Groups are chosen among all the unit's, as they are for its sums: rows without a value, too.
    pairs = grouped(rows.copy(), [column_ref("u"), *groups, value], [])
    kept = limit_groups(pairs, limited, names, rank="dense_rank")
    place = choose_groups(limited, "row_number", groups, [value])
    kept_values = values_per_group(term.limit, limited)
    limited_values = (
        select_from(kept, [exp.Star()])
        .where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.null())), copy=False)
        .qualify(exp.LTE(this=place, expression=integer(kept_values)), copy=False)
    )
    found = with_alias(of_distinct_values(term, number), f"s{number}")
    return grouped(limited_values, groups, [found])
