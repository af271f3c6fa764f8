"""Rows of a sidecar's table are summed without their units where no limit can bind.

A unit's rows of one group are either all light or all of the rest, since that depends on the unit
and the group alone: on how many rows the unit has with the group's value of a column. Whatever is
filtered or looked up on the way only leaves fewer. For a light (unit, group), the sums of each
unit would be of the same clamped terms, of no more rows than the limit, not scaled and not clamped:

sum(x) GROUP BY flag, 60 rows of a unit in a group, by domain

light  rows with flag <= 60   sum(clamped x) GROUP BY flag
rest   rows with flag >  60   GROUP BY unit, flag; scale, clamp, limit; then GROUP BY flag

Where a unit's rows in all its groups are limited, too, light units have no more in all, of any
group: the others are all of the rest, where their sums are scaled down together.

A condition on a row would not do: with x <= 60 light, a unit of 60 rows below and 60 above counts
for 120. Nor do rows alone where groups are limited by a hash: a unit with 12 light groups here and
12 others there would be in 24. There, rows are told apart only if nothing is left out on the way.
Then a unit's values of a column are its groups, and the ones to be kept were drawn when the sidecar
was made: those of the lowest places, by a keyed hash as always; all others are left out of both.
Filtered rows have other groups than the unit: of 60 suppliers in all, the 12 drawn would miss most
of the 3 that are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsql.analysis.lineage.lineage import unit
from dpsql.analysis.lineage.row_source import RowSource, replace_source, row_source
from dpsql.bounding.contribution_limit import unit_independent_keys
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.strategy.clamp_elimination import no_clamp_condition
from dpsql.bounding.strategy.owner_join_elimination import (
    OwnerJoinElimination,
    eliminate_owner_joins,
)
from dpsql.bounding.strategy.sidecar_access import with_sidecar_columns
from dpsql.bounding.strategy.stored_unit_sums import NUMBER, stored_unit_sums
from dpsql.engine.sidecar.row_columns import (
    COUNT_CAP,
    UNIT_ROW_COUNT,
    first_row_column,
    group_rank_column,
    value_count_column,
)
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    Contributions,
    ExplainedPlan,
    LimitGroups,
    SplitByContribution,
    UnlimitedRows,
)
from dpsql.plan.bounded_release.statistic import RowCount, Statistic, UnitCount
from dpsql.plan.expression import (
    Call,
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
    Or,
    conjunction,
)
from dpsql.plan.operator import Filter, Join, Scan, SidecarAccess
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import operators
from dpsql.schema.sidecar_columns import group_count_columns
from dpsql.schema.sql_type import Boolean

_MAX_TABLES = 2
"""What is joined is joined for each part: of many tables, that takes longer than telling units."""


def split_by_contribution(limited: LimitGroups, facts: Facts) -> ExplainedPlan | None:
    """The rows in two parts, if they stand ready and something is to be limited."""
    terms = limited.contributions
    found = row_source(terms.source, facts.verified)
    if found is None or found.scan.sidecar is None:
        return None
    parts = _RowSplit(limited, terms, found, eliminate_owner_joins(terms, found.scan), facts)
    conditions = parts.conditions() if terms.statistics else None
    if conditions is None:
        return None
    said = "prepared: " + " and ".join(f"{name} <= {most}" for name, most in conditions.unlimited)
    without = parts.elimination.eliminated_tables
    left_out = "".join(f"; {name} isn't read: rows have their unit" for name in without)
    split = parts.stored_sums(conditions)
    if split is not None:
        return split, f"{said}: sums of each unit stand ready{left_out}"
    scans = sum(
        isinstance(operator, Scan) for operator in operators(parts.elimination.contributions.source)
    )
    if scans > _MAX_TABLES or not parts.are_sums:
        return None
    light, rest = parts.unlimited_rows(conditions)
    note = f"{said}: summed without regard to units"
    if conditions.chosen is not None:
        place, groups = conditions.chosen
        note += f"; {place} <= {groups}: drawn once for all queries"
    if light.no_clamp is not None:
        note += "; rows within all bounds: without clamps"
    return SplitByContribution(light, rest), note + left_out


@dataclass(frozen=True, slots=True)
class _SplitConditions:
    """A column beside each row and the most it holds: of light rows, and of rows that are kept.

    Light rows have no more than each of `unlimited` says.
    """

    unlimited: tuple[tuple[str, int], ...]
    chosen: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class _RowSplit:
    """How the rows below `limited` are told apart."""

    limited: LimitGroups
    contributions: Contributions
    row_source: RowSource
    elimination: OwnerJoinElimination
    facts: Facts

    @property
    def are_sums(self) -> bool:
        """Numbers of units are sums over rows only where one row of each unit is marked."""
        units = any(isinstance(s.term, UnitCount) for s in self.contributions.statistics)
        return not units or (self.row_source.is_complete and self._only() is not None)

    def conditions(self) -> _SplitConditions | None:
        """None if no row is light for sure."""
        drawn = None
        if isinstance(self.limited.limit, ByHash):
            only = self._only()
            if only is None or not self._may_choose_by_rank():
                return None
            drawn = group_rank_column(only), self.limited.limit.groups
        column, rows = self._column(), self.limited.source.rows_per_group
        light = [(UNIT_ROW_COUNT if column is None else value_count_column(column), rows)]
        in_all = self.limited.rows
        if in_all is not None and column is not None:
            # Of no more rows in all, there are no more in a group.
            light = [(UNIT_ROW_COUNT, in_all), *(light if rows < in_all else [])]
        if max(*(most for _, most in light), 0 if drawn is None else drawn[1]) >= COUNT_CAP:
            return None
        return _SplitConditions(tuple(light), drawn)

    def stored_sums(self, conditions: _SplitConditions) -> SplitByContribution | None:
        """Light units' sums as they stand ready, and the rows of others; None if they don't."""
        match conditions:
            case _SplitConditions(unlimited=((name, most),), chosen=None) if name == UNIT_ROW_COUNT:
                number = self._free_number()
                light = stored_unit_sums(
                    self.contributions, self.row_source, self.elimination, self.facts, number, most
                )
                if light is None:
                    return None
                more = self._exceeds_rarely([_more_than(light.rows, most)])
                return SplitByContribution(
                    light, self._replaced(self._is_wide(light.rows), more, ())
                )
            case _:
                return None

    def unlimited_rows(self, conditions: _SplitConditions) -> tuple[UnlimitedRows, Contributions]:
        """Both parts over the table with what stands beside its rows."""
        drawn, only, number = conditions.chosen, self._only(), self._free_number()
        most = [
            (Column(number + 2 + n, name, NUMBER), limit)
            for n, (name, limit) in enumerate(conditions.unlimited)
        ]
        place = None if drawn is None else Column(number, drawn[0], NUMBER)
        first = None
        if only is not None and any(
            isinstance(s.term, UnitCount) for s in self.contributions.statistics
        ):
            first = Column(number + 1, first_row_column(only), Boolean())
        beside = (*(column for column, _ in most), place, first)
        added = tuple(column for column in beside if column is not None)
        wide = self._is_wide(*added)
        kept = [] if place is None or drawn is None else [_at_most(place, drawn[1])]
        handed = () if first is None else (first,)
        by_row = tuple(_by_row(s, first) for s in self.contributions.statistics)
        summed, free = replace(self.contributions, statistics=by_row), number + 2 + len(most)
        within = no_clamp_condition(summed, self.row_source, free)
        asked = () if within is None else within.out_of_range
        light = self._replaced(
            replace(wide, columns=(*wide.columns, *asked)),
            (*kept, *(_at_most(rows, limit) for rows, limit in most)),
            (*handed, *asked),
        )
        more = [_more_than(rows, limit) for rows, limit in most]
        rest = self._replaced(wide, (*kept, *self._exceeds_rarely(more)), handed)
        return UnlimitedRows(replace(light, statistics=by_row), within), rest

    def _is_wide(self, *beside: Column) -> Scan:
        scan = self.elimination.scan
        table, read = with_sidecar_columns(scan.table), (*scan.columns, *beside)
        return replace(scan, table=table, columns=read, sidecar=SidecarAccess.NUMBERED)

    def _replaced(
        self, scan: Scan, conditions: tuple[Expression, ...], added: tuple[Column, ...]
    ) -> Contributions:
        part, known = Filter(scan, conjunction(conditions)), self.elimination
        found = replace(self.row_source, scan=known.scan)
        return replace(
            self.contributions,
            source=replace_source(known.contributions.source, found, part, added),
        )

    def _exceeds_rarely(self, more: list[Compare]) -> tuple[Expression, ...]:
        """Any of `more`; where rows are joined, so that the engine takes them for few.

        Of rows that one comparison of a column leaves, it expects a fifth, and would keep in memory
        whom they may meet. One of what is computed leaves a fifth of these.
        """
        if len(more) > 1:
            return (Or(tuple(more)),)
        (found,) = more
        if not any(isinstance(operator, Join) for operator in operators(self.contributions.source)):
            return (found,)
        same = Call("&", (found.left, Literal(COUNT_CAP, NUMBER)), NUMBER)
        return found, replace(found, left=same)

    def _column(self) -> str | None:
        """The column with most values by which rows are counted, among the keys."""
        found = [
            name
            for place in range(len(self.contributions.keys))
            for name in self._count_column(place)
        ]
        return max(found, key=self._size, default=None)

    def _size(self, name: str) -> tuple[float, str]:
        values = self.row_source.scan.table.columns[name].values
        return (float("inf") if values is None else len(values), name)

    def _only(self) -> str | None:
        """The column that alone the unit doesn't determine of the keys: its values are groups."""
        free = unit_independent_keys(self.contributions, self.facts.verified)
        names = {name for place in free for name in self._value_column(place)}
        (name,) = names if len(names) == 1 else (None,)
        return name

    def _value_column(self, index: int) -> tuple[str | None, ...]:
        return self._count_column(index) or (None,)

    def _count_column(self, index: int) -> tuple[str, ...]:
        key = self.contributions.keys[index].expression
        column = self.row_source.columns.get(key) if isinstance(key, Column) else None
        if column is None or column.name not in group_count_columns(self.row_source.scan.table):
            return ()
        return (column.name,)

    def _may_choose_by_rank(self) -> bool:
        """Every value is a group, and no other choice of groups has to be the same."""
        if any(s.is_over_distinct_values for s in self.contributions.statistics):
            return False
        return self.row_source.is_complete and not self.contributions.cell_choices

    def _free_number(self) -> int:
        """Above those of all columns that a part may name."""
        found = list(operators(self.contributions.source))
        columns = [column for plan in found for column in output_columns(plan)]
        units = [own for own in map(unit, found) if own is not None]
        return max(column.id for column in (*columns, *units)) + 1


def _by_row(statistic: Statistic, first: Column | None) -> Statistic:
    """Of a unit's rows in a group, the one that is marked counts for the unit."""
    if first is not None and isinstance(statistic.term, UnitCount):
        return Statistic(RowCount(), first)
    return statistic


def _at_most(column: Column, limit: int) -> Expression:
    return Compare(Comparison.LESS_EQUAL, column, Literal(limit, NUMBER))


def _more_than(column: Column, limit: int) -> Compare:
    return Compare(Comparison.GREATER, column, Literal(limit, NUMBER))
