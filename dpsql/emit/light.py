"""Sums of rows that no limit can bind: what can be done once for a group is not done for each row.

| level  | one row per       | columns                                                         |
| ------ | ----------------- | --------------------------------------------------------------- |
| rows   | row of the source | groups, and r0 … to clamp                                        |
| sums   | group             | sums s0 … of clamped values, m0 … of how many there are          |
| totals | group             | sums s0 … of integers: each value less the centre, all together  |
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dpsql.emit.call import cast
from dpsql.emit.literal import integer
from dpsql.emit.name import aliased, field
from dpsql.emit.term import in_steps, total
from dpsql.emit.terms import (
    emit_term,
    group_names,
    grouped,
    grouped_names,
    has_few_groups,
    in_late_domains,
    select_from,
)
from dpsql.plan.bounded import Terms
from dpsql.plan.statistic import Amount, Statistic


def light_totals(terms: Terms, rows: exp.Select, late: frozenset[int]) -> exp.Select:
    """Groups with their totals, in integers of steps; distinct values are counted beside them."""
    few = has_few_groups(terms)
    items: dict[str, exp.Expr] = {}
    totals: list[exp.Expr] = []
    for number, statistic in enumerate(terms.statistics):
        found, centre = _uncentred(statistic)
        items[f"s{number}"] = _sum(found, number)
        steps: exp.Expr = field(f"s{number}")
        if not statistic.counts_every_row:
            steps = in_steps(found, steps, few=few)
        if centre:
            items[f"m{number}"] = _count(field(f"r{number}"))
            # Of 128 bits: a centre is of 53, and there may be as many rows.
            many = exp.Mul(this=cast(field(f"m{number}"), "HUGEINT"), expression=integer(centre))
            steps = exp.Sub(this=steps, expression=many)
        totals.append(aliased(steps, f"s{number}"))
    sums = [aliased(item, name) for name, item in items.items()]
    summed = grouped(rows, [field(name) for name in grouped_names(terms, late)], sums)
    listed = in_late_domains(summed, terms, late, list(items))
    return select_from(listed, [*map(field, group_names(terms)), *totals])


def _uncentred(statistic: Statistic) -> tuple[Statistic, int]:
    """The sum of the same clamped values, and what to take from each of them."""
    match statistic.term:
        case Amount(value=value):
            return replace(statistic, term=Amount(replace(value, centre=0))), value.centre
        case _:
            return statistic, 0


def _sum(statistic: Statistic, number: int) -> exp.Expr:
    if statistic.counts_every_row:
        return _count(exp.Star())
    return total(emit_term(statistic, number))


def _count(item: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="count", expressions=[item])
