"""What ways to a release are taken to cost, and from where on each is worth its while.

A cost is a number of passes: one is what DuckDB takes to read the rows of a release and sum them by
group, without any limit. Costs follow from the statement and the schema, never from rows, so that
EXPLAIN PRIVACY may show them; they choose among ways to the same integers, and decide nothing else.

All figures are of TPC-H at scale 1 on two cores, private time over plain time (docs/performance.md
and docs/adr have the measurements). They are rounded: only their order decides.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.lineage.lineage import private_scans, scans
from dpsql.emit.release.contributions import counted_cell
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    Contributions,
    GroupLimit,
    KeyDomain,
)
from dpsql.plan.expression import Column
from dpsql.schema.sql_type import Integer

LONG_LIST: Final = 1_000
"""Cells of a key that references them, of more of which few rows are taken to be in none, where
they aren't sparse."""

MIN_DENSITY: Final = Fraction(1, 8)
"""The share of the integers between a list's ends that are in it, where it is taken to be whole:
of 2,044 of two million parts that have one brand, 1.4 s of 1.6 were sums of all other parts. To
join rows to all parts, as if they were few, takes 1.7 times as long."""

_SAMPLED_CELLS: Final = 1_000
"""Of so many cells the ends are taken for those of a list, which may be a million."""

READ: Final = Fraction(1)
"""To read a table's rows and sum them by group."""

JOIN: Final = Fraction(4)
"""To join one more table to all rows: lineitem with orders takes 4.7 times the sums alone."""

GROUP_BY_UNIT: Final = Fraction(8)
"""To sum rows by unit and group: flags take 9.1 times as long with the unit in the lines."""

GROUP_BY_FEW_UNITS: Final = Fraction(2)
"""To group by the units of few rows beside: to join `part` again for these takes more, to read the
lines of a month again less."""

CHOOSE_GROUPS: Final = Fraction(8)
"""To rank each unit's groups once they are summed: flags 12.4 become 17.6, clerk 25 becomes 62."""

SETS_OF_RANKS: Final = Fraction(8)
"""To find which groups each unit has before rows are summed: by month 10, by ranking them 16."""

COUNT_UNITS: Final = Fraction(8)
"""To count the rows of each unit, and keep them: a quarter's orders by clerk take a third less."""

UNITS_PER_ROW: Final = Fraction(1, 4)
"""How many units there are taken to be for a row of the table of which a unit has most rows."""

MAX_JOINED_TABLES: Final = 2
"""Of more tables, to join them for each of two parts of the rows takes longer than units do."""

SMALL_GROUP_COUNT: Final = 1_000
"""Groups that are joined, or finished, in no time."""

MIN_CLAMPED_SUMS: Final = 2
"""Sums whose clamps are worth a second part: to plan one takes as long as to clamp a million."""

MANY_ROWS_PER_BATCH: Final = (4_000_000, 4)
"""Rows of a batch, and batches, where groups are few: at scale 10 four batches of lineitem by flag
take 1.4 GB of memory in place of 2.6, and no longer; more take longer: each reads it again."""

FEW_ROWS_PER_BATCH: Final = (500_000, 8)
"""The same where groups are many, and sums of units nearly as many as rows: at scale 1 orders by
clerk in three batches take a fifth less time."""

MAX_ROWS_PER_BATCH: Final = 32_000_000
"""Where batches would have more rows, there are more batches."""

ROWS_OF_A_LISTED_GROUP: Final = 100
"""What a group is taken to have at most, where keys are looked up in public rows."""


def table_count(contributions: Contributions) -> int:
    """How many tables the rows are read from; what is released is there, in a row or a few."""
    return len(scans(contributions.source))


def cost_of_rows(contributions: Contributions) -> Fraction:
    """To read the rows and sum them by group."""
    return READ + JOIN * max(0, table_count(contributions) - 1)


def cost_of_choice(limit: GroupLimit) -> Fraction:
    """To rank the groups of each unit, where it may be in more than it keeps."""
    is_ranked = isinstance(limit, ByHash | ByRank | ByStoredRank | ByNorm)
    return CHOOSE_GROUPS if is_ranked else Fraction(0)


def limited_share(expected_rows: Fraction, max_rows: int) -> Fraction:
    """The part of the rows that units of more than `max_rows` rows have, of `expected_rows` each.

    Units are taken to have any number of rows up to twice the expected one, as often as any other.
    """
    if not expected_rows:
        return Fraction(0)
    return max(Fraction(0), 1 - Fraction(max_rows) / (2 * expected_rows))


def has_few_groups(contributions: Contributions) -> bool:
    """All groups are listed, and so few that what is done for each of them takes no time."""
    listed = sum(len(each.keys) for each in contributions.domains)
    return (
        listed == len(contributions.keys)
        and prod(len(each.cells) for each in contributions.domains) <= SMALL_GROUP_COUNT
    )


def late_key_joins(contributions: Contributions, *, by_unit: bool) -> frozenset[int]:
    """The indices of domains that sums are joined to, not rows: there are fewer of them.

    Rows are grouped by the keys themselves, of which each cell has its own. Only where few rows are
    in no cell: where the schema or the statement lists a key's values, or the cells are a long list
    of what a key references. A short one is what a statement asks for, as parts of one brand are,
    and so is a sparse one: of all parts, the lines would be summed first. Where sums are `by_unit`,
    there are nearly as many as rows of a long list's keys. Cells that are counted aren't joined.
    """
    below = column_domains(contributions.source)
    return frozenset(
        index
        for index, each in enumerate(contributions.domains)
        if len(each.keys) == 1
        and counted_cell(contributions, index) is None
        and (
            _has_few_values(contributions, each, below)
            or (not by_unit and _is_long_reference(contributions, each))
        )
    )


def _has_few_values(contributions: Contributions, cells: KeyDomain, below: Environment) -> bool:
    key = contributions.keys[cells.keys[0]].expression
    return len(cells.cells) <= SMALL_GROUP_COUNT and domain(key, below).values is not None


def _is_long_reference(contributions: Contributions, cells: KeyDomain) -> bool:
    """Whether the key references a long list, by integers: rows have nothing wider for a cell."""
    key = contributions.keys[cells.keys[0]].expression
    return (
        len(cells.cells) > LONG_LIST
        and isinstance(key, Column)
        and isinstance(key.type, Integer)
        and any(
            key in scan.columns and scan.table.columns[key.name].references is not None
            for scan in private_scans(contributions.source)
        )
        and _is_dense(cells)
    )


def _is_dense(cells: KeyDomain) -> bool:
    """Whether many of the integers between the ends of some of the cells are in the list."""
    sample = cells.cells[:: max(1, len(cells.cells) // _SAMPLED_CELLS)]
    numbers = [number for (number,) in sample if isinstance(number, int)]
    return not numbers or len(cells.cells) >= MIN_DENSITY * (max(numbers) - min(numbers) + 1)
