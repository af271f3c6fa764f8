"""Sums of units in groups, scaled down where a unit has too many rows in all of them.

| level   | one row per         | columns                                                     |
| ------- | ------------------- | ----------------------------------------------------------- |
| kept    | unit and kept group | u, groups, sums; the rows that count there                  |
| totals  | the same            | of units of too many rows m, and mc of them up to the group |
| changes | the same            | groups, and what scaling adds to each sum                   |

What is summed afterwards has the same total of each unit's sums and of what changes them as of the
scaled ones. So DuckDB and PostgreSQL read all units once more and only those of too many rows with
their totals, which most databases have few of; to put either beside the other, all units would be
joined with them. No group is in the changes that isn't among those kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.emit.dialect.nodes import Neutral, integer
from dpsql.emit.dialect.unit_total import (
    GROUPS_OF_UNITS,
    RUNNING_TOTAL,
    is_own_unit,
    units_of_more,
    windowed_running_total,
)
from dpsql.emit.sql.clauses import joined, select_of
from dpsql.emit.sql.identifier import column_ref, subquery, table, union_all, with_alias


class ScaledUnits(Neutral, exp.Query):
    """Columns `names` of `groups` and rows that sum up to `scaled` ones, by `left`, of units.

    They are scaled where `counted` sums to more than `limit` over a unit's own groups; `running`
    sums it up to a group.
    """


def scaled_units(
    groups: exp.Query,
    names: Sequence[str],
    scaled: Sequence[exp.Alias],
    left: exp.Alias,
    rows: tuple[exp.Expr, exp.Expr],
    row_limit: int,
) -> exp.Query:
    """The `groups` of units, by `names`, whose sums are `scaled` in units of too many rows.

    What sums has the name of a column of `groups`; `left` is a column that `scaled` may name, of
    UNIT_TOTAL and RUNNING_TOTAL. A unit has too many where the first of `rows` sums to more than
    `row_limit` over its groups; the second sums them up to a group, in an order of these.

    A unit's rows in a group may be several: they only add up to its sums.
    """
    counted, running = rows
    return ScaledUnits(
        groups=groups,
        names=[column_ref(name) for name in names],
        scaled=list(scaled),
        left=left,
        counted=counted,
        running=running,
        limit=integer(row_limit),
    )


def changed_units(
    groups: exp.Query,
    names: list[exp.Expr],
    scaled: list[exp.Alias],
    left: exp.Alias,
    counted: exp.Expr,
    running: exp.Expr,
    limit: exp.Expr,
) -> exp.Select:
    """All `groups`, and of units of too many rows what scaling adds to their sums.

    A scaled sum is between 0 and what it was of, and so is the difference but for its sign: it has
    a type that holds the sum.
    """
    of_more = joined(
        select_of([exp.Star(), with_alias(running, RUNNING_TOTAL)], table(GROUPS_OF_UNITS)),
        subquery(units_of_more(counted, limit), "t"),
        "INNER",
        is_own_unit(),
    )
    counts = select_of([exp.Star(), left], subquery(of_more, "t"))
    changes = [with_alias(_change(item), item.alias) for item in scaled]
    own = [*(name.copy() for name in names), *(column_ref(item.alias) for item in scaled)]
    both = exp.union(
        select_of(own, table(GROUPS_OF_UNITS)),
        select_of([*names, *changes], subquery(counts, "t")),
        distinct=False,
        copy=False,
    )
    # Read three times, computed once.
    return union_all(both).with_(GROUPS_OF_UNITS, as_=groups, materialized=True, copy=False)


def windowed_units(
    groups: exp.Query,
    names: list[exp.Expr],
    scaled: list[exp.Alias],
    left: exp.Alias,
    counted: exp.Expr,
    running: exp.Expr,
    limit: exp.Expr,
) -> exp.Select:
    """`groups` with their sums, of units of too many rows the scaled ones."""
    windowed = windowed_running_total(groups, counted, running, limit)
    counts = select_of([exp.Star(), left], subquery(windowed, "t"))
    is_whole = exp.Is(this=column_ref(left.alias), expression=exp.null())
    sums = [
        with_alias(
            exp.case()
            .when(is_whole.copy(), column_ref(item.alias), copy=False)
            .else_(item.this, copy=False),
            item.alias,
        )
        for item in scaled
    ]
    return select_of([*names, *sums], subquery(counts, "t"))


def _change(item: exp.Alias) -> exp.Expr:
    total = column_ref(item.alias)
    if item.this == total:
        return integer(0)
    return exp.Sub(this=item.this, expression=total)
