"""Sums of values less a centre: what is taken from each of them is taken from all at once.

A value less its centre may be a digit longer than the value, and of 18 digits that takes 128 bits.
So values are summed as they are, and counted: a group's sum less as many centres is the same
integer.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, wide
from dpsql.emit.release.contribution import (
    center_of,
    number_of,
    number_of_rows,
    sum_of,
    sum_of_unit,
    to_steps,
    value_count_of_unit,
)
from dpsql.emit.release.contributions import emit_term
from dpsql.emit.sql.identifier import column_ref
from dpsql.plan.bounded_release.column_names import term_names, total_name, value_count_name
from dpsql.plan.bounded_release.statistic import NonNullCount, RowCount, Statistic, Sum
from dpsql.structs import replace


def uncentered_sums(
    statistic: Statistic,
    number: int,
    *,
    of_unit: bool = False,
    unclamped: exp.Expr | None = None,
) -> dict[str, exp.Expr]:
    """The sum s of a statistic's clamped terms; with a centre, as they are, and their number m.

    They are those `of_unit`, of one unit in one group, or of all units. `unclamped` are the values
    where no clamp would change them: none of them is NULL, so that there are as many as rows, but
    for those that a filter leaves out. What is counted is a sum of ones; COUNT adds no integers.
    """
    if isinstance(statistic.term, RowCount | NonNullCount):
        value, _ = term_names(number)
        return {total_name(number): number_of(column_ref(value))}
    uncentered, center = _uncentered(statistic)
    value, _ = term_names(number)
    term = emit_term(uncentered, number) if unclamped is None else unclamped
    total = sum_of_unit(uncentered, term) if of_unit else sum_of(term)
    sums = {total_name(number): total}
    if center:
        values = column_ref(value)
        if unclamped is not None and statistic.filter is None:
            count = number_of_rows()
        elif of_unit:
            count = value_count_of_unit(uncentered, values)
        else:
            count = number_of(values)
        sums[value_count_name(number)] = count
    return sums


def centered_steps(statistic: Statistic, number: int, *, has_few_rows: bool = False) -> exp.Expr:
    """By the columns of `uncentered_sums`, the statistic's integer; 0 where nothing was summed."""
    uncentered, center = _uncentered(statistic)
    steps = to_steps(uncentered, column_ref(total_name(number)), has_few_rows=has_few_rows)
    if not center:
        return steps
    # Of 128 bits: a centre is of 53, and there may be as many rows.
    count = wide(column_ref(value_count_name(number)))
    return exp.Sub(this=steps, expression=exp.Mul(this=count, expression=integer(center)))


def uncentered_term(statistic: Statistic, number: int) -> tuple[exp.Expr, exp.Expr | None]:
    """A row's clamped term that a centre is not taken from, and the centre, if there is one."""
    uncentered, center = _uncentered(statistic)
    term = emit_term(uncentered, number)
    match statistic.term:
        case Sum(value=value) if center:
            return term, center_of(value, value.decimal)
        case _:
            return term, None


def _uncentered(statistic: Statistic) -> tuple[Statistic, int]:
    """The sum of the same clamped values, and what to take from each of them."""
    match statistic.term:
        case Sum(value=value):
            return replace(statistic, term=Sum(replace(value, center=0))), value.center
        case _:
            return statistic, 0
