"""What a release is taken to cost where its rows are on a server: computed there, or pulled.

In passes over the rows, as all estimates; all tables are taken to have as many, since how many they
have is private. Figures are processor time on TPC-H at scale 0.1 (docs/adr/0017 has them), in units
of what DuckDB takes to read a row and sum it, 7 ns. One backend of PostgreSQL sums in numeric, and
finds units in hash tables row by row; columns are pulled in binary, numerics as texts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpsql.analysis.lineage.same_unit_conditions import is_same_unit
from dpsql.emit.relation.scan_and_join import unit_sources
from dpsql.physical.plan import PhysicalPlan
from dpsql.physical.selectivity import selectivity
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    Contributions,
    Limited,
    LimitGroups,
    contributions_of,
)
from dpsql.plan.bounded_release.statistic import RowCount, UnitCount
from dpsql.plan.operator import Join, MarkJoin, Scan
from dpsql.plan.traversal import operators
from dpsql.schema.model import EntityUnit
from dpsql.schema.sql_type import Decimal, SqlType, Varchar

SERVER_READ: Final = Fraction(20)
"""To read a table's rows, before a condition is asked of them."""

SERVER_JOIN: Final = Fraction(15)
"""To join the rows that are left with those of one more table."""

SERVER_UNITS: Final = Fraction(40)
"""To find the unit and group of each row: a count of lines takes 91."""

SERVER_SUM: Final = Fraction(75)
"""To clamp and sum a column in numeric: by flags, with three sums, 326."""

SERVER_CHOICE: Final = Fraction(400)
"""To sort each unit's groups by a hash: by clerk 509, by month 535."""

PULL_TABLE: Final = Fraction(20)
"""To send a table's rows and take them in, before any column."""

PULL_WHOLE: Final = Fraction(15)
"""To send a column of numbers or days."""

PULL_TEXT: Final = Fraction(25)
"""To send a column of texts."""

PULL_DECIMAL: Final = Fraction(40)
"""To send a column of decimals, as texts that are read again."""


def cost_on_server(limited: Limited, plan: PhysicalPlan) -> Fraction:
    """To compute a release on the server by `plan`."""
    is_split = isinstance(plan, SplitByContribution)
    terms = plan.unlimited if isinstance(plan, SplitByContribution) else contributions_of(limited)
    tables = _tables(terms)
    sums = sum(not isinstance(s.term, RowCount | UnitCount) for s in terms.statistics)
    each = SERVER_JOIN * (tables - 1) + SERVER_SUM * sums
    if isinstance(limited, LimitGroups) and not is_split:
        each += SERVER_UNITS
        is_chosen = isinstance(limited.limit, ByHash | ByRank | ByStoredRank | ByNorm)
        each += SERVER_CHOICE * (is_chosen + len(terms.cell_choices))
    # Of a split, either part reads all rows, and leaves those of the other.
    return SERVER_READ * tables * (2 if is_split else 1) + each * selectivity(
        contributions_of(limited).source
    )


def looks_units_up(terms: Contributions) -> bool:
    """Whether rows of some table are joined with others for nothing but their unit.

    They aren't where the next table stands beside them, or where EXISTS asks for rows by their key.
    """
    plans = tuple(operators(terms.source))
    joined = {unit for plan in plans if isinstance(plan, Join) for unit in unit_sources(plan)}
    marks = (plan for plan in plans if isinstance(plan, MarkJoin) and is_same_unit(plan))
    by_key = {part for mark in marks for part in operators(mark.relation)}
    scans = (scan for scan in _scans(terms) if scan not in by_key)
    return any(_hops(scan) and scan.unit not in joined for scan in scans)


def cost_of_pulling(terms: Contributions) -> Fraction:
    """To read the needed columns of the needed tables, whole, into memory."""
    cost = PULL_TABLE * _tables(terms)
    for scan in _scans(terms):
        cost += sum((_to_send(column.type) for column in scan.columns), start=Fraction(0))
        own = scan.table.ownership
        if isinstance(own, EntityUnit) and scan.unit is not None:
            # Of each table on the way its key, and what leads to the next one.
            cost += PULL_WHOLE * (1 + 2 * sum(len(hop.pairs) for hop in own.hops))
    return cost


def _to_send(kind: SqlType) -> Fraction:
    match kind:
        case Decimal():
            return PULL_DECIMAL
        case Varchar():
            return PULL_TEXT
        case _:
            return PULL_WHOLE


def _tables(terms: Contributions) -> int:
    """How many tables are read, those that lead to a row's unit among them."""
    scans = _scans(terms)
    return len(scans) + sum(map(_hops, scans))


def _hops(scan: Scan) -> int:
    """How many tables lead from the rows to their unit, if those are to be read."""
    own = scan.table.ownership
    is_joined = isinstance(own, EntityUnit) and scan.unit is not None and scan.sidecar is None
    return len(own.hops) if isinstance(own, EntityUnit) and is_joined else 0


def _scans(terms: Contributions) -> list[Scan]:
    return [plan for plan in operators(terms.source) if isinstance(plan, Scan)]
