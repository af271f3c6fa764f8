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

from dpsql.emit.release.contribution import sum_of
from dpsql.emit.sql.function_call import cast, narrowest_cast
from dpsql.emit.sql.identifier import column_ref, subquery, table, with_alias
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.statistic import Statistic, UnitsOverLimit

WEIGHT: Final = "w"


def weight_of(statistics: Sequence[Statistic]) -> str:
    """The column of how many rows a unit counts for in a group: COUNT(*), if that is asked for."""
    counts = (f"s{number}" for number, s in enumerate(statistics) if s.is_row_count)
    return next(counts, WEIGHT)


def counted_rows(rows_per_group: int) -> exp.Expr:
    """How many rows a unit of n rows in a group counts for there."""
    most = integer(rows_per_group)
    many = exp.GT(this=column_ref("n"), expression=most.copy())
    counted = exp.case().when(many, most, copy=False).else_(column_ref("n"), copy=False)
    return narrowest_cast(counted, 0, rows_per_group)


def limited_rows(
    groups: exp.Select, names: Sequence[str], statistics: Sequence[Statistic], rows: int
) -> exp.Select:
    """The groups and sums of `groups`, those of a unit with more than `rows` rows scaled down."""
    counted = sum_of(column_ref(weight_of(statistics)))
    more = (
        exp.select(with_alias(column_ref("u"), "mu"), with_alias(counted, "m"), copy=False)
        .from_(table("kept"), copy=False)
        .group_by(column_ref("u"), copy=False)
        .having(exp.GT(this=counted.copy(), expression=integer(rows)), copy=False)
    )
    sums = [with_alias(_scaled(s, n, rows), f"s{n}") for n, s in enumerate(statistics)]
    return (
        exp.select(*map(column_ref, names), *sums, copy=False)
        .from_(table("kept"), copy=False)
        .join(
            subquery(more, "t"),
            on=exp.EQ(this=column_ref("u"), expression=column_ref("mu")),
            join_type="left",
            copy=False,
        )
        # Read twice, computed once.
        .with_("kept", as_=groups, materialized=True, copy=False)
    )


def _scaled(statistic: Statistic, number: int, rows: int) -> exp.Expr:
    """`//` goes toward 0: no part is more than its share of `rows` rows."""
    found = column_ref(f"s{number}")
    if isinstance(statistic.term, UnitsOverLimit):
        few = exp.Is(this=column_ref("m"), expression=exp.null())
        return exp.case().when(few, found, copy=False).else_(integer(1), copy=False)
    if not statistic.is_row_sum:
        return found
    wide = cast(found.copy(), "HUGEINT")
    product = exp.Paren(this=exp.Mul(this=wide, expression=integer(rows)))
    share = exp.IntDiv(this=product, expression=column_ref("m"))  # NULL where there is no m
    return exp.Coalesce(this=share, expressions=[found])
