"""A unit's rows in all its groups: where they are too many, its sums are scaled down together.

| level   | one row per    | columns                                                         |
| ------- | -------------- | --------------------------------------------------------------- |
| totals  | unit and group | of units of too many rows, m in all their groups, mc up to this one |
| counted | the same       | k, how many rows of the group still count                        |
| limited | the same, and as few rows more as it needs | sums of as many, once they are added up |

What a unit's sums are scaled by is decided by its own rows and the salt alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.analysis.capped_sums import is_scaled_by_rows
from dpsql.analysis.unit_contribution import partial_bound, rows_per_group
from dpsql.emit.dialect.nodes import integer, narrow, quotient, share, wide
from dpsql.emit.dialect.scaled_units import scaled_units
from dpsql.emit.dialect.unit_total import RUNNING_TOTAL, UNIT_TOTAL
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.release.group_limit import rank_by_hash
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.column_names import ROW_COUNT, ROWS_LEFT, WEIGHT, total_name
from dpsql.plan.bounded_release.statistic import (
    CappedSum,
    NonNullCount,
    RowCount,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)


def weight_of(statistics: Sequence[Statistic]) -> str:
    """The column of how many rows a unit counts for in a group: COUNT(*), if that is asked for."""
    counts = (total_name(number) for number, s in enumerate(statistics) if s.is_row_count)
    return next(counts, WEIGHT)


def only_sum(statistics: Sequence[Statistic]) -> int | None:
    """The index of the only sum that is scaled, of rows with values; None if there are others."""
    others = [s for s in statistics if not isinstance(s.term, UnitCount)]
    match others:
        case [Statistic(term=Sum() | NonNullCount() | RowCount()) as one] if one.needs_sum:
            return statistics.index(one)
        case _:
            return None


def rows_that_reach(statistic: Statistic, number: int, row_limit: int) -> exp.Expr:
    """How few rows, each of an end of its interval, reach a unit's sum in a group; none reach 0.

    A sum that lies in u times the interval of a row is reached by u rows or fewer, in as many times
    whose interval it lies, too: of 200 rows of up to 10, whose sum is 500, by 50. So it is as many
    for whatever is proved of the sum alone.
    """
    low, high = statistic.interval
    total, none = column_ref(total_name(number)), integer(0)
    reached = none
    for bound, beyond, signed in (
        (high, exp.GT, wide(total.copy())),
        (-low, exp.LT, exp.Neg(this=wide(total.copy()))),
    ):
        if bound > 0:
            up = exp.Paren(this=exp.Add(this=signed, expression=integer(bound - 1)))
            there = beyond(this=total.copy(), expression=none.copy())
            case = exp.case().when(there, quotient(up, integer(bound)), copy=False)
            reached = case.else_(reached, copy=False)
    return narrow(reached, 0, row_limit)


def counted_rows(row_limit: int) -> exp.Expr:
    """How many rows a unit of n rows in a group counts for there."""
    limit, rows = integer(row_limit), column_ref(ROW_COUNT)
    many = exp.GT(this=rows, expression=limit.copy())
    counted = exp.case().when(many, limit, copy=False).else_(rows.copy(), copy=False)
    return narrow(counted, 0, row_limit)


def limited_rows(
    groups: exp.Query, names: Sequence[str], limited: LimitGroups, rows: int
) -> exp.Query:
    """The groups and sums of `groups`; of a unit with more than `rows` rows, of that many of them.

    In a group a unit may have several rows, which add up to its sums.

    Of m rows up to c are in its groups up to one, in an order of its own, and as many of them count
    as c·`rows` / m, rounded to the nearest: all of them are `rows`, and in each group the u rows
    that count become k, u·`rows` / m rounded up or down. Rounded down in each, one row in each of
    many groups would be none. By what is left of the rows of a group its sums are scaled, too.
    Rows are those that are there, or as few as reach the only sum.
    """
    statistics = limited.contributions.statistics
    weight, is_reached = weight_of(statistics), only_sum(statistics) is not None
    own = column_ref(weight)
    running = rank_by_hash(limited, "sum", [], [*map(column_ref, names)], of=own)
    left = exp.Sub(
        this=_nearest_share(column_ref(RUNNING_TOTAL), rows),
        expression=_nearest_share(
            exp.Paren(this=exp.Sub(this=column_ref(RUNNING_TOTAL), expression=own.copy())), rows
        ),
    )
    sums = [
        with_alias(
            column_ref(total_name(number))
            if isinstance(s.term, CappedSum) and not is_scaled_by_rows(s, limited)
            else _scaled(s, number, weight, limited, is_reached=is_reached),
            total_name(number),
        )
        for number, s in enumerate(statistics)
    ]
    whole = narrow(exp.Paren(this=left), 0, rows_per_group(limited))
    counted = sum_of(own.copy()), running
    return scaled_units(groups, names, sums, with_alias(whole, ROWS_LEFT), counted, rows)


def _nearest_share(counted: exp.Expr, rows: int) -> exp.Expr:
    """What `rows` of all the unit's rows are of `counted` ones; half a row is rounded up."""
    all_rows = column_ref(UNIT_TOTAL)
    doubled = exp.Mul(this=wide(counted), expression=integer(2 * rows))
    dividend = exp.Paren(this=exp.Add(this=doubled, expression=all_rows))
    divisor = exp.Paren(this=exp.Mul(this=integer(2), expression=all_rows.copy()))
    return quotient(dividend, divisor)


def _scaled(
    statistic: Statistic, number: int, weight: str, limited: LimitGroups, *, is_reached: bool
) -> exp.Expr:
    """A sum of a unit of too many rows; `//` goes toward 0, so that it is no more than its part.

    Sums are clamped by now, and of a group no more rows are left than count there.
    """
    total, left = column_ref(total_name(number)), column_ref(ROWS_LEFT)
    if isinstance(statistic.term, UnitsOverLimit):
        return integer(1)
    if not statistic.is_row_sum:
        return total
    if total_name(number) == weight:
        return left
    whole: exp.Expr = column_ref(weight)
    if is_reached:  # no rows reach a sum of 0, which stays what it is
        some = exp.GT(this=whole.copy(), expression=integer(0))
        whole = exp.case().when(some, whole, copy=False).else_(integer(1), copy=False)
    largest = partial_bound(statistic, limited) * rows_per_group(limited)
    return share(total, left, whole, largest)
