"""The rows of a unit in all its groups, beside each of them: by a join, or by a window.

| level | one row per         | columns                                         |
| ----- | ------------------- | ----------------------------------------------- |
| kept  | unit and kept group | u, groups, sums; the rows that count there      |
| more  | unit of too many    | mu, m: the rows that count in all its groups    |

Rows of a unit's groups up to one, in an order of them, are a window over those of `more` alone.

DuckDB joins faster than it fills windows, and computes once what a WITH has. Spark computes it for
each that reads it: a window needs the groups once, and only has to bring those of a unit together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import column_ref, subquery, table, union_all, with_alias
from dpsql.plan.bounded_release.column_names import UNIT

UNIT_TOTAL: Final = "m"
"""How many rows of its unit count in all its groups; NULL if they are no more than the limit."""

RUNNING_TOTAL: Final = "mc"
"""How many of these rows are in its groups up to this one; NULL where UNIT_TOTAL is."""

_UNITS: Final = "mu"
_GROUPS: Final = "kept"
_MORE: Final = "more"


def joined_total(
    groups: exp.Query, items: Iterable[exp.Expr], counted: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`items` of `groups`, joined with the units of more than `limit` rows."""
    select = joined(
        select_of(items, table(_GROUPS)),
        subquery(_units_of_more(counted, limit), "t"),
        "LEFT",
        _is_own_unit(),
    )
    # Read twice, computed once.
    return select.with_(_GROUPS, as_=groups, materialized=True, copy=False)


def joined_running_total(
    groups: exp.Query, counted: exp.Expr, running: exp.Expr, limit: exp.Expr
) -> exp.Select:
    """`groups` of units of no more than `limit` rows, and those of other units with their totals.

    Most units are the former: a window over all of them would take longer than the joins.
    """
    few = joined(_all_with(column_ref(UNIT_TOTAL)), table(_MORE), "LEFT", _is_own_unit())
    few = few.where(exp.Is(this=column_ref(_UNITS), expression=exp.null()), copy=False)
    many = joined(_all_with(running), table(_MORE), "INNER", _is_own_unit())
    select = union_all(exp.union(few, many, distinct=False, copy=False))
    for name, query in ((_GROUPS, groups), (_MORE, _units_of_more(counted, limit))):
        select = select.with_(name, as_=query, materialized=True, copy=False)
    return select


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


def _units_of_more(counted: exp.Expr, limit: exp.Expr) -> exp.Select:
    units = [with_alias(column_ref(UNIT), _UNITS), with_alias(counted, UNIT_TOTAL)]
    return (
        select_of(units, table(_GROUPS))
        .group_by(column_ref(UNIT), copy=False)
        .having(exp.GT(this=counted.copy(), expression=limit), copy=False)
    )


def _is_own_unit() -> exp.Expr:
    return exp.EQ(this=column_ref(UNIT), expression=column_ref(_UNITS))


def _all_with(running: exp.Expr) -> exp.Select:
    return select_of([exp.Star(), with_alias(running, RUNNING_TOTAL)], table(_GROUPS))


def _windowed(
    groups: exp.Query, counted: exp.Expr, limit: exp.Expr, *others: exp.Expr
) -> exp.Select:
    total = exp.Window(this=counted, partition_by=[column_ref(UNIT)])
    summed = select_of([exp.Star(), with_alias(total, _UNITS), *others], subquery(groups, "t"))
    is_more = exp.GT(this=column_ref(_UNITS), expression=limit)
    more = exp.case().when(is_more, column_ref(_UNITS), copy=False)
    return select_of([exp.Star(), with_alias(more, UNIT_TOTAL)], subquery(summed, "t"))
