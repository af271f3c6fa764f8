"""Sums of rows that no limit can bind: what can be done once for a group is not done for each row.

Rows that no clamp would change are summed apart, as they are.

| level  | one row per       | columns                                                         |
| ------ | ----------------- | --------------------------------------------------------------- |
| rows   | row of the source | groups, and r0 … to clamp                                        |
| sums   | group             | sums s0 … of clamped values, m0 … of how many there are          |
| totals | group             | sums s0 … of integers: each value less the centre, all together  |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from dpsql.emit.release.centered_sum import centred_steps, uncentred_sums
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.contributions import (
    group_names,
    grouped,
    grouped_names,
    has_few_groups,
    in_late_domains,
    select_from,
)
from dpsql.emit.sql.identifier import aliased, all_of, field
from dpsql.emit.strategy.clamp_elimination import are_beyond, are_within
from dpsql.plan.bounded_release.bounded_release import Terms, Within
from dpsql.plan.bounded_release.statistic import Presence


def light_totals(
    terms: Terms, rows: exp.Select, late: frozenset[int], asked: Within | None = None
) -> exp.Select:
    """Groups with their totals, in integers of steps; distinct values are counted beside them.

    A group has a total of the rows that are within what is `asked`, and one of all others.
    """
    groups = [field(name) for name in grouped_names(terms, late)]
    sums = _sums(terms, frozenset())
    if asked is None:
        summed = grouped(rows, groups, sums)
    else:
        within = rows.copy().where(are_within(asked, terms.statistics), copy=False)
        beyond = rows.where(are_beyond(asked, terms.statistics), copy=False)
        as_they_are = _sums(terms, frozenset(asked.places))
        arms = grouped(within, groups, as_they_are), grouped(beyond, groups, sums)
        summed = all_of(exp.union(*arms, distinct=False, copy=False))
    few = has_few_groups(terms)
    totals = [
        centred_steps(statistic, number, few=few) if statistic.is_summed else field(f"s{number}")
        for number, statistic in enumerate(terms.statistics)
    ]
    return totals_of(summed, terms, late, [item.alias for item in sums], totals)


def totals_of(
    summed: exp.Select,
    terms: Terms,
    late: frozenset[int],
    names: Sequence[str],
    totals: Iterable[exp.Expr],
) -> exp.Select:
    """Groups with the statistics' `totals`, made of the columns of `summed` with these `names`."""
    listed = in_late_domains(summed, terms, late, names)
    items = [aliased(item, f"s{number}") for number, item in enumerate(totals)]
    return select_from(listed, [*map(field, group_names(terms)), *items])


def _sums(terms: Terms, unclamped: frozenset[int]) -> list[exp.Expr]:
    """What is summed over the rows of a group."""
    items: dict[str, exp.Expr] = {}
    for number, statistic in enumerate(terms.statistics):
        if statistic.counts_every_row:
            items[f"s{number}"] = number_of_rows()
        elif isinstance(statistic.term, Presence):
            # Of rows that come with their units: each counts once.
            items[f"s{number}"] = exp.Count(this=exp.Distinct(expressions=[field("u")]))
        else:
            items |= uncentred_sums(statistic, number, clamped=number not in unclamped)
    return [aliased(item, name) for name, item in items.items()]
