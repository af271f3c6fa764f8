"""A unit's rows in all its groups: where they are too many, its sums are scaled down together.

| level | one row per          | columns                                                   |
| ----- | -------------------- | --------------------------------------------------------- |
| kept  | unit and kept group  | u, groups, sums; w: the rows that count there              |
| more  | unit of too many     | mu, m: the rows that count in all its groups              |

What a unit's sums are scaled by is decided by its own rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, narrow, quotient, wide
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import column_ref, subquery, table, with_alias
from dpsql.plan.bounded_release.column_names import ROW_COUNT, UNIT, WEIGHT, total_name
from dpsql.plan.bounded_release.statistic import Statistic, UnitsOverLimit

_UNITS: Final = "mu"
_ALL_ROWS: Final = "m"
_GROUPS: Final = "kept"


def weight_of(statistics: Sequence[Statistic]) -> str:
    """The column of how many rows a unit counts for in a group: COUNT(*), if that is asked for."""
    counts = (total_name(number) for number, s in enumerate(statistics) if s.is_row_count)
    return next(counts, WEIGHT)


def counted_rows(rows_per_group: int) -> exp.Expr:
    """How many rows a unit of n rows in a group counts for there."""
    limit, rows = integer(rows_per_group), column_ref(ROW_COUNT)
    many = exp.GT(this=rows, expression=limit.copy())
    counted = exp.case().when(many, limit, copy=False).else_(rows.copy(), copy=False)
    return narrow(counted, 0, rows_per_group)


def limited_rows(
    groups: exp.Select, names: Sequence[str], statistics: Sequence[Statistic], rows: int
) -> exp.Select:
    """The groups and sums of `groups`, those of a unit with more than `rows` rows scaled down."""
    counted = sum_of(column_ref(weight_of(statistics)))
    more = (
        select_of(
            [with_alias(column_ref(UNIT), _UNITS), with_alias(counted, _ALL_ROWS)], table(_GROUPS)
        )
        .group_by(column_ref(UNIT), copy=False)
        .having(exp.GT(this=counted.copy(), expression=integer(rows)), copy=False)
    )
    sums = [with_alias(_scaled(s, n, rows), total_name(n)) for n, s in enumerate(statistics)]
    select = joined(
        select_of([*map(column_ref, names), *sums], table(_GROUPS)),
        subquery(more, "t"),
        "LEFT",
        exp.EQ(this=column_ref(UNIT), expression=column_ref(_UNITS)),
    )
    # Read twice, computed once.
    return select.with_(_GROUPS, as_=groups, materialized=True, copy=False)


def _scaled(statistic: Statistic, number: int, rows: int) -> exp.Expr:
    """`//` goes toward 0: no part is more than its share of `rows` rows."""
    total, all_rows = column_ref(total_name(number)), column_ref(_ALL_ROWS)
    if isinstance(statistic.term, UnitsOverLimit):
        few = exp.Is(this=all_rows, expression=exp.null())
        return exp.case().when(few, total, copy=False).else_(integer(1), copy=False)
    if not statistic.is_row_sum:
        return total
    wide_total = wide(total.copy())
    product = exp.Paren(this=exp.Mul(this=wide_total, expression=integer(rows)))
    share = quotient(product, all_rows)  # NULL where there are no such rows
    return exp.Coalesce(this=share, expressions=[total])
