"""The rows of a unit in all its groups, beside each of them: by a join, or by a window.

| level | one row per         | columns                                         |
| ----- | ------------------- | ----------------------------------------------- |
| kept  | unit and kept group | u, groups, sums; the rows that count there      |
| t     | unit of too many    | mu, m: the rows that count in all its groups    |

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

RUNNING_TOTAL: Final = "mc"
"""How many of these rows are in its groups up to this one; NULL where UNIT_TOTAL is."""

GROUPS_OF_UNITS: Final = "kept"
"""The groups of units, by the name that a WITH gives them."""

_UNITS: Final = "mu"


def joined_total(
    groups: exp.Query, items: Iterable[exp.Expr], counted: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`items` of `groups`, joined with the units of more than `limit` rows."""
    select = joined(
        select_of(items, table(GROUPS_OF_UNITS)),
        subquery(units_of_more(counted, limit), "t"),
        "LEFT",
        is_own_unit(),
    )
    # Read twice, computed once.
    return select.with_(GROUPS_OF_UNITS, as_=groups, materialized=True, copy=False)


def windowed_total(
    groups: exp.Query, items: Iterable[exp.Expr], counted: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`items` of `groups`, with the sum over each one's unit."""
    return select_of(items, subquery(_windowed(groups, counted, limit), "t"))


def windowed_running_total(
    groups: exp.Query, counted: exp.Expr, running: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`groups` with the sums over each one's unit, and over its groups up to this one."""
    return _windowed(groups, counted, limit, with_alias(running, RUNNING_TOTAL))


def units_of_more(counted: exp.Expr, limit: exp.Expr) -> exp.Select:
    """The units of more than `limit` rows, and how many those are."""
    units = [with_alias(column_ref(UNIT), _UNITS), with_alias(counted, UNIT_TOTAL)]
    return (
        select_of(units, table(GROUPS_OF_UNITS))
        .group_by(column_ref(UNIT), copy=False)
        .having(exp.GT(this=counted.copy(), expression=limit), copy=False)
    )


def is_own_unit() -> exp.Expr:
    """The condition of a join of groups with the units of too many rows."""
    return exp.EQ(this=column_ref(UNIT), expression=column_ref(_UNITS))


def _windowed(
    groups: exp.Query, counted: exp.Expr, limit: exp.Expr, *others: exp.Expr
) -> exp.Select:
    total = exp.Window(this=counted, partition_by=[column_ref(UNIT)])
    summed = select_of([exp.Star(), with_alias(total, _UNITS), *others], subquery(groups, "t"))
    is_more = exp.GT(this=column_ref(_UNITS), expression=limit)
    more = exp.case().when(is_more, column_ref(_UNITS), copy=False)
    return select_of([exp.Star(), with_alias(more, UNIT_TOTAL)], subquery(summed, "t"))
