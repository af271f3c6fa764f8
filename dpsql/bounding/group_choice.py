"""How the groups that a unit counts in are chosen: this, and the salt, decide a release's integers.

Whoever computes the release later has this choice to keep to, whatever takes least time. A choice
depends on the statement, the schema, verified keys and whether there is a sidecar; never on rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from dpsql.analysis.lineage.functional_dependency import (
    Trusted,
    is_determined,
    unit_determined_columns,
)
from dpsql.analysis.lineage.lineage import has_row_units, private_scans
from dpsql.analysis.lineage.row_source import RowSource, row_source
from dpsql.bounding.numbered_rows import number_column
from dpsql.bounding.public_facts import Facts
from dpsql.engine.sidecar.row_columns import COUNT_CAP
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    ByUnit,
    Contributions,
    GroupLimit,
    KeyDomain,
)
from dpsql.plan.bounded_release.statistic import (
    BoundedMean,
    CappedSum,
    PairwiseDeviations,
    Statistic,
    UnitCount,
)
from dpsql.plan.expression import Call, Column, Literal
from dpsql.plan.operator import SidecarAccess
from dpsql.schema.sidecar_columns import group_count_columns, month_count_columns, month_of

MAX_RANKS: Final = 127
"""A set of so many cells fits 128 bits; and any two differ in their last 7."""

PARTS: Final = 2**10
"""An integer has so many parts where units' sums are scaled: weights from 1/16 on are by 1/64
apart."""

_MAX_ROWS_OF_KEYS: Final = 2
"""Of more rows of a unit in a group, keys are chosen by units. With r, r times the rows have to be
there as units that all of the loss would choose keys by; with its share of it, about 2 times."""

_MAX_SQUARES: Final = 2**62
"""The squares of a unit's rows add up to no more in 64 bits, which some engine may sum them in."""


def choose_group_limit(
    contributions: Contributions, groups: int, rows_per_group: int, facts: Facts
) -> GroupLimit:
    """How a unit is kept to `groups` groups of `contributions`, which may have statistics by now.

    In each of them so many rows count.

    A choice by hash or by rank takes time, so it is made only where a unit may be in more groups.
    """
    if contributions.keys and not unit_independent_keys(contributions, facts.verified):
        tables = {s.table.display_name for s in private_scans(contributions.source)}
        return ByUnit(tuple(sorted(tables)))
    cells = cell_count(contributions.domains, range(len(contributions.keys)))
    if cells is not None and cells <= groups:
        return ByDomain(cells)
    few = cells is not None and cells <= MAX_RANKS and is_sum_only(contributions)
    computed = ByRank(groups, MAX_RANKS) if few else ByHash(groups)
    column = _stored_rank_column(contributions, groups, rows_per_group, facts)
    return computed if column is None else ByStoredRank(groups, column, computed)


def scaled_to_norm(
    contributions: Contributions, bounds: tuple[int, int], limit: GroupLimit, order: int
) -> ByNorm | None:
    """The limit of a unit's sums in all groups by their norm; None where `limit` does as much.

    `bounds` are as many groups, and rows in each, as have the largest norm of that `order`.

    None also for what isn't a sum of rows, which has no parts: a unit is in a group or isn't, a
    value has been there or hasn't. Where keys aren't listed, only in the L2 norm, and where few
    rows of a unit are counted in a group, by which keys are chosen then: a number of units would be
    one more statistic, which isn't scaled. Of G groups with r rows in each G·r² are drawn: as many
    as have the norm with a row in each.

    And for a sum with a cap, which few rows may reach: of 2 groups and 10 rows in each, a unit with
    one row of 10 in each of 200 groups has the norm, 200 <= 2·10², so that all of it counts. Where
    10 is the cap, its sums' squares add up to 200·10², not to 2·10²: the norm of rows bounds none.
    """
    if any(isinstance(s.term, CappedSum) for s in contributions.statistics):
        return None
    if isinstance(limit, ByUnit) or not is_sum_only(contributions):
        return None
    groups, rows_per_group = bounds
    cells = cell_count(contributions.domains, range(len(contributions.keys)))
    if cells is None:
        counts_rows = any(s.is_row_count for s in contributions.statistics)
        if order != 2 or not counts_rows or rows_per_group > _MAX_ROWS_OF_KEYS:
            return None
        cells = groups * rows_per_group**2
    if groups >= cells or cells * rows_per_group**2 > _MAX_SQUARES:
        return None
    return ByNorm(groups, cells, PARTS, order)


def unit_independent_keys(contributions: Contributions, trusted: Trusted) -> list[int]:
    """The indices of the keys that the unit doesn't determine, by the keys of `trusted` tables."""
    known = unit_determined_columns(contributions.source, trusted)
    return [
        index
        for index, key in enumerate(contributions.keys)
        if not is_determined(key.expression, known)
    ]


def cell_count(domains: tuple[KeyDomain, ...], keys: Sequence[int]) -> int | None:
    """How many combinations of values the keys at these indices can have; None if unknown."""
    wanted = set(keys)
    sizes = []
    for domain in domains:
        overlap = [i for i, key in enumerate(domain.keys) if key in wanted]
        wanted -= set(domain.keys)
        if len(overlap) == len(domain.keys):
            sizes.append(len(domain.cells))  # which are distinct
        elif overlap:
            sizes.append(len(set(map(itemgetter(*overlap), domain.cells))))
    return None if wanted else max(1, math.prod(sizes))


def is_sum_only(contributions: Contributions, *, of_units: bool = False) -> bool:
    """Nothing but sums over rows is asked of the groups that are kept; or numbers `of_units`."""
    if contributions.cell_choices or has_row_units(contributions.source):
        return False
    return all(
        _is_sum(s) or (of_units and isinstance(s.term, UnitCount)) for s in contributions.statistics
    )


def only_group_column(
    contributions: Contributions, rows: RowSource, trusted: Trusted
) -> str | None:
    """The column of the rows' table whose values are a unit's groups; None if there is none.

    It is the one key that the unit doesn't determine, and the sidecar counts a unit's values of it.
    """
    independent = unit_independent_keys(contributions, trusted)
    names = {counted_column(contributions, rows, index) for index in independent}
    (name,) = names if len(names) == 1 else (None,)
    return name


def counted_column(contributions: Contributions, rows: RowSource, index: int) -> str | None:
    """The column that the key at `index` is, if a sidecar counts a unit's rows by its values.

    It may stand for the months of a column of days, where these are listed: of keys that aren't,
    all that can't be read are one group, and several months.
    """
    table = rows.scan.table
    match contributions.keys[index].expression:
        case Column() as key if key in rows.columns:
            name = rows.columns[key].name
            return name if name in group_count_columns(table) else None
        case Call("date_trunc", (Literal(value="month"), Column() as day)) if day in rows.columns:
            name = rows.columns[day].name
            is_listed = any(index in domain.keys for domain in contributions.domains)
            is_counted = name in month_count_columns(table) and is_listed
            is_on_server = rows.scan.sidecar is SidecarAccess.ON_SERVER
            return month_of(name) if is_counted and not is_on_server else None
        case _:
            return None


def _stored_rank_column(
    contributions: Contributions, groups: int, rows_per_group: int, facts: Facts
) -> str | None:
    """The column whose values' ranks in a sidecar choose a unit's groups; None if none may.

    Ranks are of all values that the unit has in the table. Where rows are filtered it has others
    here: of 60 suppliers in all, the 12 of lowest rank would miss most of the 3 that are asked for.
    Where cells are chosen by rows, too, these are drawn by their numbers there.
    """
    rows = row_source(contributions.source, facts.verified)
    if rows is None or not rows.is_complete or not facts.in_sidecar(rows.scan.table):
        return None
    choices = contributions.cell_choices
    if not (contributions.statistics or choices) or groups >= COUNT_CAP:
        return None
    if choices and number_column(contributions, rows, rows_per_group) is None:
        return None
    if any(s.is_over_distinct_values for s in contributions.statistics):
        return None  # values are chosen among those of groups that a hash has chosen
    return only_group_column(contributions, rows, facts.verified)


def _is_sum(statistic: Statistic) -> bool:
    return statistic.is_row_sum and not isinstance(statistic.term, PairwiseDeviations | BoundedMean)
