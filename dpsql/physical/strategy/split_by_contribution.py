"""Rows of a sidecar's table are summed without their units where no limit can bind.

A unit's rows of one group are either all unlimited or all limited, since that depends on the unit
and the group alone: on how many rows the unit has with the group's value of a column. Whatever is
filtered or looked up on the way only leaves fewer. For an unlimited (unit, group), the sums of each
unit would be of the same clamped terms, of no more rows than the limit, not scaled and not clamped:

sum(x) GROUP BY flag, 60 rows of a unit in a group, by domain

unlimited  rows with flag <= 60   sum(clamped x) GROUP BY flag
limited    rows with flag >  60   GROUP BY unit, flag; scale, clamp, limit; then GROUP BY flag

Where a unit's rows in all its groups are limited, too, unlimited units have no more in all, of any
group: the others are all limited, and their sums are scaled down together.

A condition on a row would not do: with x <= 60 unlimited, a unit of 60 rows below and 60 above
counts for 120. Nor do rows alone where groups are limited by a hash: a unit with 12 unlimited
groups and 12 others would be in 24. There, rows are told apart only where stored ranks have chosen
the unit's groups, and all other rows are left out of both parts; or where a unit has so few values
of each key that it has no more groups than count, and all others are in the rest.

Units of a group are counted as well: each is in one part alone. Of unlimited ones one row of each
is marked where a column alone has a unit's groups, or else distinct units are counted, by bits
where keys have few values.

Where nothing but rows or units is counted by that column, rows whose stored number is no more than
the limit are all that is read: so many of a unit's rows count, whichever they are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.bounding.public_facts import Facts
from dpsql.emit.release.contributions import emit_contributions
from dpsql.emit.release.limited_sums import (
    limited_totals,
    totals_without_limits,
    unit_group_sums,
)
from dpsql.physical.cost import MAX_JOINED_TABLES, cost_of_rows, table_count
from dpsql.physical.emission import Emission
from dpsql.physical.modifier.clamp_elimination import (
    NoClampCondition,
    no_clamp_condition,
    tested_columns,
)
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE
from dpsql.physical.numbered_rows import marked_row, max_row_number, numbered_rows
from dpsql.physical.sidecar_rows import SidecarRows, at_most, sidecar_rows
from dpsql.physical.strategy.clamped_rows import clamped_unit_sums
from dpsql.physical.strategy.unit_bits import UnitBits, unit_bits
from dpsql.physical.strategy.unlimited_sums import counts_units, has_caps, unlimited_totals
from dpsql.plan.bounded_release.bounded_release import (
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.bounded_release.statistic import RowCount, Statistic, UnitCount
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, MarkJoin
from dpsql.plan.traversal import operators
from dpsql.schema.sql_type import Boolean
from dpsql.structs import replace


class Rest(Struct, frozen=True):
    """The `rows` of units that a limit may bind; there are none if none is `over_limits`.

    Where groups are drawn here, `parts` are the rows of units with no more than count, and all
    others.
    """

    rows: Contributions
    parts: tuple[Contributions, Contributions] | None
    over_limits: Filter


class SplitByContribution(Struct, frozen=True):
    """Sum the `unlimited` rows by group; the `rest`, of other units, as all are without a split.

    No unit has rows of one group in both. Rows that meet `no_clamp` are summed apart, as they are.
    `rest` is None where each row that counts is among the `unlimited`: where these are numbered,
    or where no limit can bind any unit.
    """

    limited: LimitGroups
    unlimited: Contributions
    rest: Rest | None
    no_clamp: NoClampCondition | None
    bits: UnitBits | None
    note: str
    is_numbered: bool = False

    is_blocking: ClassVar = False

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:
        """The plan, where a sidecar tells what no limit can bind, and few tables are joined."""
        if not isinstance(limited, LimitGroups) or not _counts_rows(limited.contributions):
            return None
        if has_caps(limited.contributions):
            return None
        rows = sidecar_rows(limited, facts.verified)
        limits = None if rows is None else rows.unlimited_rows()
        of_values = None if rows is None else rows.value_limits()
        if rows is None or limits is None or of_values is None:
            return None
        if table_count(rows.elimination.contributions) > MAX_JOINED_TABLES:
            return None
        if any(isinstance(each, MarkJoin) for each in operators(rows.contributions.source)):
            return None  # what is asked of rows would be so for each part
        number = rows.free_number()
        rank = rows.stored_rank(number)
        marked = marked_row(rows, number + 1)
        max_number = None if marked is None else max_row_number(rows)
        if marked is not None and max_number is not None:
            return cls._by_number(rows, rank, marked, max_number)
        counts = [
            (Column(number + 2 + n, name, COUNT_TYPE), limit)
            for n, (name, limit) in enumerate((*limits, *of_values))
        ]
        of_rows, values = counts[: len(limits)], counts[len(limits) :]
        if not counts_units(rows.contributions):
            marked = None
        counts_by_rows = counts_units(rows.contributions) and marked is None
        if counts_by_rows and rows.is_on_server:
            return None
        extra = () if marked is None else (marked,)
        scan = rows.scan(*(c for c, _ in counts), *(() if rank is None else (rank[0],)), *extra)
        chosen = [] if rank is None else [at_most(*rank)]
        by_row = tuple(_by_row(s, marked) for s in limited.contributions.statistics)
        no_clamp = (
            # A server's statistics don't tell of all rows that none is beyond its bounds.
            None
            if rows.is_on_server
            else no_clamp_condition(
                replace(limited.contributions, statistics=by_row),
                rows.row_source,
                number + 2 + len(counts),
            )
        )
        of_table = () if no_clamp is None else no_clamp.out_of_range
        tested = of_table
        bits = unit_bits(rows, number + 2 + len(counts) + len(tested)) if counts_by_rows else None
        if bits is not None:
            tested += bits.many_values
        unlimited = rows.over(
            replace(scan, columns=(*scan.columns, *tested)),
            (*chosen, *(at_most(column, limit) for column, limit in counts)),
            (*extra, *tested),
        )
        limited_scan = replace(scan, columns=(*scan.columns, *of_table))
        added = (*extra, *of_table)
        limited_rows = rows.over(limited_scan, (*chosen, *rows.exceeds(counts)), added)
        parts = None
        if values:
            few_values = [at_most(column, limit) for column, limit in values]
            parts = (
                rows.over(limited_scan, (*few_values, *rows.exceeds(of_rows)), added),
                rows.over(scan, rows.exceeds(values), extra),
            )
        note = _note(rows, (*limits, *of_values), rank, no_clamp)
        if counts_by_rows:
            note += "; units are counted by their rows"
        if bits is not None:
            note += ", or by bits where keys have few values"
        unlimited = replace(unlimited, statistics=by_row)
        rest = Rest(limited_rows, parts, rows.over_limits(counts))
        return cls(limited, unlimited, rest, no_clamp, bits, note)

    @classmethod
    def _by_number(
        cls, rows: SidecarRows, rank: tuple[Column, int] | None, numbers: Column, max_number: int
    ) -> Self:
        """The plan where a row counts whose number is no more than this."""
        stored = [(numbers, max_number), *([] if rank is None else [rank])]
        scan = rows.scan(*(column for column, _ in stored))
        read = rows.over(scan, [at_most(*each) for each in stored], (numbers,))
        by_row = tuple(_by_row(s, numbers) for s in rows.contributions.statistics)
        limits = " and ".join(f"{column.name} <= {limit}" for column, limit in stored)
        note = f"prepared: {limits}: counted, and drawn once for all queries"
        numbered = numbered_rows(rows.limited, 0) if rows.contributions.cell_choices else None
        if numbered is not None:
            note += f"; {numbered.describe()} in cells"
        unlimited = replace(read, statistics=by_row)
        note += rows.describe_elimination()
        return cls(rows.limited, unlimited, None, None, None, note, is_numbered=True)

    def estimate(self) -> Fraction:
        """In passes over the rows: what is joined is joined for each part."""
        return 2 * cost_of_rows(self.unlimited)

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        limited, terms, condition = self.limited, self.unlimited, self.no_clamp
        tested = () if condition is None else tested_columns(condition, terms.statistics)
        # A unit that no mark stands for is told by its rows. Where these are in two parts, so that
        # some of a unit's may be in either, they are read once more, but for those that have bits.
        is_by_rows, bits = counts_units(terms), self.bits
        reads_units = is_by_rows and (condition is not None or bits is not None)
        flags = () if bits is None else bits.read
        rows = emit_contributions(
            terms,
            emission.releases,
            with_unit=is_by_rows and (bits is not None or not reads_units),
            late=emission.late,
            extra=(*tested, *flags),
        )
        units = None
        if reads_units:
            without_terms = replace(terms, statistics=(), cell_choices=())
            units = emit_contributions(
                without_terms, emission.releases, with_unit=True, late=emission.late, extra=flags
            )
        unlimited = unlimited_totals(terms, rows, emission.late, condition, units, bits)
        rest = self.rest
        if rest is None:
            return unlimited if self.is_numbered else totals_without_limits(limited, unlimited)
        if rest.parts is not None:
            # To rank groups of which none is left out takes as long as a quarter of the others.
            few_groups, others = rest.parts
            unlimited = limited_totals(
                limited,
                self._sums_of_units(few_groups, emission),
                emission.late,
                unlimited=unlimited,
                are_chosen=True,
            )
            sums = unit_group_sums(others, emission.unit_rows(others), emission.late)
        else:
            sums = self._sums_of_units(rest.rows, emission)
        return limited_totals(limited, sums, emission.late, unlimited=unlimited)

    def _sums_of_units(self, part: Contributions, emission: Emission) -> exp.Select:
        """Each unit's sums in each group, of rows that may be asked for clamps."""
        condition, late = self.no_clamp, emission.late
        if condition is None:
            return unit_group_sums(part, emission.unit_rows(part), late)
        rows = emission.unit_rows(part, tested_columns(condition, part.statistics))
        return clamped_unit_sums(part, rows, late, condition)


def _counts_rows(contributions: Contributions) -> bool:
    """There is something that is summed, or drawn, of rows without regard to their units."""
    return bool(contributions.statistics) or any(c.draws_rows for c in contributions.cell_choices)


def _by_row(statistic: Statistic, marked: Column | None) -> Statistic:
    """Of a unit's rows in a group, the one that is marked, or the first, counts for the unit."""
    if marked is not None and isinstance(statistic.term, UnitCount):
        is_first = marked if isinstance(marked.type, Boolean) else at_most(marked, 1)
        return Statistic(RowCount(), is_first)
    return statistic


def _note(
    rows: SidecarRows,
    limits: tuple[tuple[str, int], ...],
    rank: tuple[Column, int] | None,
    no_clamp: NoClampCondition | None,
) -> str:
    """What an analyst is told."""
    note = f"{rows.describe(limits)}: summed without regard to units"
    drawn = [] if rank is None else [f"{rank[0].name} <= {rank[1]}"]
    if rows.contributions.cell_choices:
        numbered = numbered_rows(rows.limited, 0)
        drawn += [] if numbered is None else [numbered.describe()]
    if drawn:
        note += f"; {' and '.join(drawn)}: drawn once for all queries"
    if no_clamp is not None:
        note += "; rows within all bounds: without clamps"
    return note + rows.describe_elimination()
