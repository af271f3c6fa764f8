"""Limits as windows over one unit's rows: what is kept depends on them and on the salt alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.emit.dialect.nodes import integer, keyed_hash, narrow, quotient
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.identifier import column_ref
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
"""Of so many, about as many make one order of the cells as another; and they fit 32 bits."""


def limit_groups(
    source: exp.Select, limited: LimitGroups, names: Sequence[str], *, rank: str = "row_number"
) -> exp.Select:
    """The rows of `source` in those of each unit's groups that are kept.

    `rank` is dense_rank where a unit has several rows in a group: the same groups are kept.
    """
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
        case ByRank(groups=groups, ranks=ranks):
            # No two cells have one rank.
            number = narrow(cell(limited.contributions), 0, ranks - 1)
            order = rank_of_cell(unit_order(limited, ranks), number, ranks)
            return _ranked(rank, [], [order], None), groups
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


def unit_order(limited: LimitGroups, ranks: int) -> exp.Expr:
    """Which order of `ranks` cells is the unit's, by its hash, of `ranks` - 1 times `ranks`."""
    number = narrow(salted_hash(limited, [], _HASHES), 0, _HASHES - 1)
    return exp.Mod(this=number, expression=integer(ranks * (ranks - 1)))


def rank_of_cell(order: exp.Expr, number: exp.Expr, ranks: int) -> exp.Expr:
    """The rank of cell x, `number`, in order h: a·x + b, where a goes from 1 to `ranks` - 1."""
    which = order if isinstance(order, exp.Column) else exp.Paren(this=order)
    factor = exp.Add(this=integer(1), expression=exp.Mod(this=which, expression=integer(ranks - 1)))
    shift = quotient(which.copy(), integer(ranks - 1))
    product = exp.Mul(this=exp.Paren(this=factor), expression=number)
    moved = exp.Paren(this=exp.Add(this=product, expression=shift))
    return exp.Mod(this=moved, expression=integer(ranks))


def cell(contributions: Contributions) -> exp.Expr:
    """A number for each combination of the domains' cells, from 0 on, by a row's group columns."""
    number: exp.Expr = column_ref(group_name(0))
    for index, domain in enumerate(contributions.domains[1:], 1):
        rows = exp.Mul(this=exp.Paren(this=number), expression=integer(len(domain.cells)))
        number = exp.Add(this=rows, expression=column_ref(group_name(index)))
    return number
