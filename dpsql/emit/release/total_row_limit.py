"""A unit's rows in all its groups: where they are too many, its sums are scaled down together.

What a unit's sums are scaled by is decided by its own rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.analysis.capped_sums import is_scaled_by_rows
from dpsql.emit.dialect.nodes import integer, narrow, share, wide, with_unit_total
from dpsql.emit.dialect.unit_total import UNIT_TOTAL
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import LimitGroups
from dpsql.plan.bounded_release.column_names import ROW_COUNT, WEIGHT, total_name
from dpsql.plan.bounded_release.statistic import CappedSum, Statistic, UnitsOverLimit


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
    groups: exp.Query, names: Sequence[str], limited: LimitGroups, rows: int
) -> exp.Query:
    """The groups and sums of `groups`, those of a unit with more than `rows` rows scaled down."""
    statistics = limited.contributions.statistics
    sums = [
        with_alias(
            column_ref(total_name(number))
            if isinstance(s.term, CappedSum) and not is_scaled_by_rows(s, limited)
            else _scaled(s, number, rows),
            total_name(number),
        )
        for number, s in enumerate(statistics)
    ]
    counted = sum_of(column_ref(weight_of(statistics)))
    return with_unit_total(groups, [*map(column_ref, names), *sums], counted, rows)


def _scaled(statistic: Statistic, number: int, rows: int) -> exp.Expr:
    """`//` goes toward 0: no part is more than its share of `rows` rows."""
    total, all_rows = column_ref(total_name(number)), column_ref(UNIT_TOTAL)
    if isinstance(statistic.term, UnitsOverLimit):
        few = exp.Is(this=all_rows, expression=exp.null())
        return exp.case().when(few, total, copy=False).else_(integer(1), copy=False)
    if not statistic.is_row_sum:
        return total
    scaled = share(wide(total.copy()), integer(rows), all_rows)  # NULL where there are no such rows
    return exp.Coalesce(this=scaled, expressions=[total])
