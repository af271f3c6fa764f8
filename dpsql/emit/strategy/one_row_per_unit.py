"""Sums of rows that are each their unit's only one: nothing is limited, terms are clamped."""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.release.contribution import in_steps, number_of_rows, total
from dpsql.emit.release.contributions import (
    emit_term,
    group_names,
    grouped,
    grouped_names,
    has_few_groups,
    in_late_domains,
    select_from,
)
from dpsql.emit.release.distinct_count import of_distinct_values
from dpsql.emit.release.pairwise_deviations import of_pairs, scaled
from dpsql.emit.sql.identifier import aliased, field
from dpsql.plan.bounded_release.bounded_release import Terms
from dpsql.plan.bounded_release.statistic import Deviations, Distinct, DistinctSum, Statistic


def row_totals(terms: Terms, rows: exp.Select, late: frozenset[int]) -> exp.Select:
    """Clamped terms of `rows` are summed as they are."""
    numbered = list(enumerate(terms.statistics))
    sums = [aliased(_total(statistic, number), f"s{number}") for number, statistic in numbered]
    names = [f"s{number}" for number, _ in numbered]
    if any(isinstance(s.term, Deviations) for _, s in numbered):
        sums.append(aliased(number_of_rows(), "n"))
        names.append("n")
    summed = grouped(rows, [field(name) for name in grouped_names(terms, late)], sums)
    listed = in_late_domains(summed, terms, late, names)
    few = has_few_groups(terms)
    steps = [aliased(_in_steps(s, field(f"s{n}"), few=few), f"s{n}") for n, s in numbered]
    return select_from(listed, [*map(field, group_names(terms)), *steps])


def _total(statistic: Statistic, number: int) -> exp.Expr:
    term = emit_term(statistic, number)
    match statistic.term:
        case Distinct() | DistinctSum() as found:
            return of_distinct_values(found, number)
        case Deviations():
            return of_pairs(term)
        case _:
            return total(term)


def _in_steps(statistic: Statistic, column: exp.Expr, *, few: bool) -> exp.Expr:
    match statistic.term:
        case Deviations(rows=rows):
            return scaled(column, field("n"), rows)
        case _:
            return in_steps(statistic, column, few=few)
