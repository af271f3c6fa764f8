"""The rows of a unit in all its groups, beside each of them: by a join, or by a window.

| level | one row per         | columns                                         |
| ----- | ------------------- | ----------------------------------------------- |
| kept  | unit and kept group | u, groups, sums; the rows that count there      |
| more  | unit of too many    | mu, m: the rows that count in all its groups    |

DuckDB joins faster than it fills windows, and computes once what a WITH has. Spark computes it for
each that reads it: a window needs the groups once, and only has to bring those of a unit together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import column_ref, subquery, table, with_alias
from dpsql.plan.bounded_release.column_names import UNIT

UNIT_TOTAL: Final = "m"
"""How many rows of its unit count in all its groups; NULL if they are no more than the limit."""

_UNITS: Final = "mu"
_GROUPS: Final = "kept"


def joined_total(
    groups: exp.Query, items: Iterable[exp.Expr], counted: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`items` of `groups`, joined with the units of more than `limit` rows."""
    more = (
        select_of(
            [with_alias(column_ref(UNIT), _UNITS), with_alias(counted, UNIT_TOTAL)],
            table(_GROUPS),
        )
        .group_by(column_ref(UNIT), copy=False)
        .having(exp.GT(this=counted.copy(), expression=limit), copy=False)
    )
    select = joined(
        select_of(items, table(_GROUPS)),
        subquery(more, "t"),
        "LEFT",
        exp.EQ(this=column_ref(UNIT), expression=column_ref(_UNITS)),
    )
    # Read twice, computed once.
    return select.with_(_GROUPS, as_=groups, materialized=True, copy=False)


def windowed_total(
    groups: exp.Query, items: Iterable[exp.Expr], counted: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`items` of `groups`, with the sum over each one's unit."""
    total = exp.Window(this=counted, partition_by=[column_ref(UNIT)])
    summed = select_of([exp.Star(), with_alias(total, _UNITS)], subquery(groups, "t"))
    is_more = exp.GT(this=column_ref(_UNITS), expression=limit)
    more = exp.case().when(is_more, column_ref(_UNITS), copy=False)
    limited = select_of([exp.Star(), with_alias(more, UNIT_TOTAL)], subquery(summed, "t"))
    return select_of(items, subquery(limited, "t"))
