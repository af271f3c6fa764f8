"""Limits as windows over one unit's rows: what is kept depends on them and on the salt alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.identifier import column_ref
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.bounded_release import ByDomain, ByHash, ByUnit, LimitGroups


def limit_groups(
    source: exp.Select, limited: LimitGroups, names: Sequence[str], *, rank: str = "row_number"
) -> exp.Select:
    """The rows of `source` in those of each unit's groups that are kept.

    `rank` is dense_rank where a unit has several rows in a group: the same groups are kept.
    """
    match limited.limit:
        case ByDomain() | ByUnit():
            return source
        case ByHash(groups=groups):
            columns = [column_ref(name) for name in names]
            place = choose_groups(limited, rank, [], columns)
            return select_from(source, [exp.Star()]).qualify(
                exp.LTE(this=place, expression=integer(groups)), copy=False
            )
        case missing:
            assert_never(missing)


def choose_groups(
    limited: LimitGroups,
    rank: str,
    partition: Sequence[exp.Expr],
    items: Sequence[exp.Expr],
    *,
    of: exp.Expr | None = None,
) -> exp.Expr:
    """The place of a unit's row, among those in the same groups `partition`, by a hash of `items`.

    Every unit makes a choice of its own, so that no item is lost to all of them. `rank` may be the
    sum `of` a column up to a row, too.
    """
    order = [salted_hash(limited, items), *items]
    return exp.Window(
        this=exp.Anonymous(this=rank, expressions=[] if of is None else [of.copy()]),
        partition_by=[column_ref("u"), *(w.copy() for w in partition)],
        order=exp.Order(expressions=[exp.Ordered(this=o.copy(), nulls_first=False) for o in order]),
    )


def salted_hash(limited: LimitGroups, items: Sequence[exp.Expr]) -> exp.Expr:
    """A number that depends on the unit, `items` and the salt alone.

    A row that is a unit has no name but its number, which other rows' being there decides: it isn't
    hashed.
    """
    rows_are_units = has_row_units(limited.contributions.source)
    hashed = items if rows_are_units else [column_ref("u"), *items]
    salted = [*(item.copy() for item in hashed), exp.Parameter(this=exp.Literal.number("1"))]
    return exp.Anonymous(this="hash", expressions=salted)
