"""Limits as windows over one unit's rows: what is kept depends on them and on the salt alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.emit.dialect.nodes import integer, keyed_hash, narrow
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    ByUnit,
    Contributions,
    LimitGroups,
)
from dpsql.plan.bounded_release.column_names import UNIT, group_name

_HASHES: Final = 2**30
"""Of so many, about as many begin with one of a unit's groups as with another; they fit 32 bits."""

_RANK: Final = "turn"
_GROUPS: Final = "turns"


def limit_groups(
    source: exp.Select, limited: LimitGroups, names: Sequence[str], *, rank: str = "row_number"
) -> exp.Select:
    """The rows of `source` in those of each unit's groups that are kept.

    `rank` is dense_rank where a unit has several rows in a group: the same groups are kept.
    """
    if isinstance(limited.limit, ByRank):
        if rank != "row_number":
            raise ValueError("groups that are chosen by rank come once each")
        return _groups_in_turn(source, limited, limited.limit)
    window = group_rank(limited, rank, names)
    if window is None:
        return source
    column, groups = window
    return select_from(source, [exp.Star()]).qualify(
        exp.LTE(this=column, expression=integer(groups)), copy=False
    )


def group_rank(
    limited: LimitGroups, rank: str, names: Sequence[str]
) -> tuple[exp.Expr, int] | None:
    """The rank of a row's group, `names`, among its unit's, and how many of them are kept.

    None where there are no more groups, or all are kept.
    """
    columns = [column_ref(name) for name in names]
    match limited.limit:
        case ByDomain() | ByUnit():
            return None
        case ByNorm(cells=groups):
            if not limited.contributions.unlisted_keys:
                return None
            return rank_by_hash(limited, rank, [], columns), groups
        case ByHash(groups=groups) | ByStoredRank(groups=groups):
            # Stored ranks have left out all other rows. No file is believed: a unit that has more
            # groups by them is limited as without it.
            return rank_by_hash(limited, rank, [], columns), groups
        case ByRank():
            raise ValueError("nothing but sums is asked of groups that are chosen by rank")
        case missing:
            assert_never(missing)


def rank_by_hash(
    limited: LimitGroups,
    rank: str,
    partition: Sequence[exp.Expr],
    items: Sequence[exp.Expr],
    *,
    of: exp.Expr | None = None,
) -> exp.Expr:
    """The rank of a unit's row among those in the same groups `partition`, by a hash of `items`.

    Every unit makes a choice of its own, so that no item is lost to all of them. `rank` may be the
    sum `of` a column up to a row, too.
    """
    return _ranked(rank, partition, [salted_hash(limited, items), *items], of)


def _ranked(
    rank: str, partition: Sequence[exp.Expr], order: Sequence[exp.Expr], of: exp.Expr | None
) -> exp.Expr:
    return exp.Window(
        this=exp.Anonymous(this=rank, expressions=[] if of is None else [of.copy()]),
        partition_by=[column_ref(UNIT), *(w.copy() for w in partition)],
        order=exp.Order(expressions=[exp.Ordered(this=o.copy(), nulls_first=False) for o in order]),
    )


def salted_hash(
    limited: LimitGroups, items: Sequence[exp.Expr], below: int | None = None
) -> exp.Expr:
    """A number that depends on the unit, `items` and the salt alone, `below` a power of 2 if set.

    A row that is a unit has no name but its number, which other rows' being there decides: it isn't
    hashed.
    """
    rows_are_units = has_row_units(limited.contributions.source)
    hashed = items if rows_are_units else [column_ref(UNIT), *items]
    return keyed_hash(hashed, below)


def first_group(limited: LimitGroups, groups: exp.Expr) -> exp.Expr:
    """Which of its `groups` a unit begins with, where it keeps some that follow each other."""
    hashed = narrow(salted_hash(limited, [], _HASHES), 0, _HASHES - 1)
    return exp.Mod(this=hashed, expression=groups)


def _groups_in_turn(source: exp.Select, limited: LimitGroups, limit: ByRank) -> exp.Select:
    """The rows of `source`, one for each of a unit's groups, of so many that follow each other."""
    order = narrow(cell(limited.contributions), 0, limit.ranks - 1)
    rank = _ranked("row_number", [], [order], None)
    groups = exp.Window(this=number_of_rows(), partition_by=[column_ref(UNIT)])
    numbered = select_from(
        source, [exp.Star(), with_alias(rank, _RANK), with_alias(groups, _GROUPS)]
    )
    own = column_ref(_GROUPS)
    # From 1 to as many as there are, so that none is less than 0.
    turned = exp.Sub(this=own, expression=first_group(limited, own.copy()))
    before = exp.Sub(this=column_ref(_RANK), expression=integer(1))
    moved = exp.Paren(this=exp.Add(this=before, expression=exp.Paren(this=turned)))
    in_turn = exp.Mod(this=moved, expression=own.copy())
    return select_from(numbered, [exp.Star()]).where(
        exp.LT(this=in_turn, expression=integer(limit.groups)), copy=False
    )


def cell(contributions: Contributions) -> exp.Expr:
    """A number for each combination of the domains' cells, from 0 on, by a row's group columns."""
    number: exp.Expr = column_ref(group_name(0))
    for index, domain in enumerate(contributions.domains[1:], 1):
        rows = exp.Mul(this=exp.Paren(this=number), expression=integer(len(domain.cells)))
        number = exp.Add(this=rows, expression=column_ref(group_name(index)))
    return number
