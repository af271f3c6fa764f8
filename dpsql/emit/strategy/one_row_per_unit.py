"""Sums of rows that are each their unit's only one: nothing is limited, terms are clamped."""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.release.contribution import number_of_rows, sum_of, to_steps
from dpsql.emit.release.contributions import (
    emit_term,
    group_names,
    grouped,
    grouped_names,
    has_few_groups,
    join_keys,
    select_from,
)
from dpsql.emit.release.distinct_count import of_distinct_values
from dpsql.emit.release.pairwise_deviations import of_pairs, scaled
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.statistic import (
    DistinctSum,
    DistinctValues,
    PairwiseDeviations,
    Statistic,
)


def row_totals(contributions: Contributions, rows: exp.Select, late: frozenset[int]) -> exp.Select:
    """Clamped terms of `rows` are summed as they are."""
    numbered = list(enumerate(contributions.statistics))
    sums = [with_alias(_total(statistic, number), f"s{number}") for number, statistic in numbered]
    names = [f"s{number}" for number, _ in numbered]
    if any(isinstance(s.term, PairwiseDeviations) for _, s in numbered):
        sums.append(with_alias(number_of_rows(), "n"))
        names.append("n")
    summed = grouped(rows, [column_ref(name) for name in grouped_names(contributions, late)], sums)
    listed = join_keys(summed, contributions, late, names)
    few = has_few_groups(contributions)
    steps = [
        with_alias(_to_steps(s, column_ref(f"s{n}"), has_few_rows=few), f"s{n}")
        for n, s in numbered
    ]
    return select_from(listed, [*map(column_ref, group_names(contributions)), *steps])


def _total(statistic: Statistic, number: int) -> exp.Expr:
    term = emit_term(statistic, number)
    match statistic.term:
        case DistinctValues() | DistinctSum() as found:
            return of_distinct_values(found, number)
        case PairwiseDeviations():
            return of_pairs(term)
        case _:
            return sum_of(term)


def _to_steps(statistic: Statistic, column: exp.Expr, *, has_few_rows: bool) -> exp.Expr:
    match statistic.term:
        case PairwiseDeviations(rows=rows):
            return scaled(column, column_ref("n"), rows)
        case _:
            return to_steps(statistic, column, has_few_rows=has_few_rows)
