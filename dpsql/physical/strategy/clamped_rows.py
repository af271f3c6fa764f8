"""A unit's rows with their values within bounds, before they are summed by unit and group.

As of rows that no limit can bind, those that no clamp would change are taken as they are, and all
others clamped. Of one unit and group there may be rows of both kinds, so that both are summed at
once, below one GROUP BY: were they summed apart, a unit would be limited twice in one group.

within  rows that meet the condition: u, group, values as they are
beyond  all other rows: u, group, values clamped, the centre for NULL
sums    within UNION ALL beyond, GROUP BY u, group

What is taken from a sum is its centre for each value. A row without a value has the centre's, which
adds as much as is taken: 0, as such a row does. So values are as many as rows, and aren't counted
one by one; the sum is of as many terms, each between the same bounds. Where a filter leaves values
out, they are counted, and of a row that has the centre in place of one both the sum and the count.

That a row meets the condition is asked below its value, which doesn't overflow then, and of no NULL
is it true.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dpsql.emit.release.centered_sum import uncentered_term
from dpsql.emit.release.contributions import all_term_names, grouped_names, select_from
from dpsql.emit.release.limited_sums import unit_group_sums
from dpsql.emit.sql.identifier import column_ref, union_all, with_alias
from dpsql.physical.modifier.clamp_elimination import (
    NoClampCondition,
    are_in_range,
    are_out_of_range,
    unclamped_values,
)
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.column_names import UNIT, term_names


def clamped_unit_sums(
    contributions: Contributions,
    rows: exp.Select,
    late: frozenset[int],
    condition: NoClampCondition,
) -> exp.Select:
    """Each unit's sums in each group, the same as `unit_group_sums` finds of the same `rows`.

    The rows hand on their units and the `tested_columns` of `condition`.
    """
    statistics = contributions.statistics
    values = unclamped_values(condition, statistics)
    clamped = dict(_clamped(contributions, condition))
    groups = [UNIT, *grouped_names(contributions, late)]
    in_range = rows.copy().where(are_in_range(condition, statistics), copy=False)
    out_of_range = rows.where(are_out_of_range(condition, statistics), copy=False)
    arms = [
        select_from(part, [*map(column_ref, groups), *_terms(contributions, by_index)])
        for part, by_index in ((in_range, values), (out_of_range, clamped))
    ]
    both = union_all(exp.union(*arms, distinct=False, copy=False))
    summed = {index: column_ref(term_names(index)[0]) for index in condition.indices}
    return unit_group_sums(contributions, both, late, summed)


def _clamped(
    contributions: Contributions, condition: NoClampCondition
) -> Iterator[tuple[int, exp.Expr]]:
    for index in condition.indices:
        term, center = uncentered_term(contributions.statistics[index], index)
        yield index, term if center is None else exp.Coalesce(this=term, expressions=[center])


def _terms(contributions: Contributions, values: dict[int, exp.Expr]) -> Iterator[exp.Expr]:
    """The columns of all terms, of the statistics in `values` these."""
    named = {term_names(index)[0]: value for index, value in values.items()}
    for name in all_term_names(contributions):
        yield with_alias(named.get(name, column_ref(name)), name)
