"""Sums of rows that no limit can bind: what can be done once for a group is not done for each row.

| level  | one row per       | columns                                                         |
| ------ | ----------------- | --------------------------------------------------------------- |
| rows   | row of the source | groups, and r0 … to clamp                                        |
| sums   | group             | sums s0 … of clamped values, m0 … of how many there are          |
| totals | group             | sums s0 … of integers: each value less the centre, all together  |
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.centre import centred_steps, uncentred_sums
from dpsql.emit.name import aliased, field
from dpsql.emit.terms import (
    group_names,
    grouped,
    grouped_names,
    has_few_groups,
    in_late_domains,
    select_from,
)
from dpsql.plan.bounded import Terms


def light_totals(terms: Terms, rows: exp.Select, late: frozenset[int]) -> exp.Select:
    """Groups with their totals, in integers of steps; distinct values are counted beside them."""
    few = has_few_groups(terms)
    items: dict[str, exp.Expr] = {}
    totals: list[exp.Expr] = []
    for number, statistic in enumerate(terms.statistics):
        name = f"s{number}"
        if statistic.counts_every_row:
            items[name] = exp.Anonymous(this="count", expressions=[exp.Star()])
            totals.append(aliased(field(name), name))
        else:
            items |= uncentred_sums(statistic, number)
            totals.append(aliased(centred_steps(statistic, number, few=few), name))
    sums = [aliased(item, name) for name, item in items.items()]
    summed = grouped(rows, [field(name) for name in grouped_names(terms, late)], sums)
    listed = in_late_domains(summed, terms, late, list(items))
    return select_from(listed, [*map(field, group_names(terms)), *totals])
