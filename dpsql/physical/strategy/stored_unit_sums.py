"""Sums of units whose every row is in one group are read from a sidecar, and not computed.

count, sum(o_totalprice) by c_mktsegment from orders ⋈ customer; 40 rows of a unit count

unlimited  units of at most 40 orders ⋈ customer   sum(rows), sum(sum of price) GROUP BY segment
rest       orders of other units ⋈ customer   GROUP BY unit; scale, clamp; then GROUP BY segment

That is so where the unit determines all keys, by verified keys, and what is joined or filtered asks
nothing of the rows but whose they are: then a unit has all of its rows, each once, or none. For
one that no limit binds, their sums, each within the column's bounds, would be neither scaled nor
clamped.

Asked for orders of one year, a unit has fewer rows than its sums are of; and by year, they lie in
several groups. A condition on the customer leaves all of them or none, also one of a single sum.

Where nothing but rows and units is counted, no rows are read: a unit of n rows, all in its only
group, counts there for the n that are stored, or for as many as count.

What is read is no more than what so many rows could be, which is enforced: a file that says more is
wrong, and its rows of that unit count for nothing.

| level  | one row per              | columns                                                   |
| ------ | ------------------------ | --------------------------------------------------------- |
| units  | unit that no limit binds | groups, its number of rows, and of values with their sum  |
| sums   | group                    | sums of rows, values or sums; how many values there are   |
| totals | group                    | the same as integers: each value less the center, at once |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import ClassVar, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.row_source import RowSource, replace_source
from dpsql.bounding.group_choice import unit_independent_keys
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contribution import filtered, sum_of
from dpsql.emit.release.contributions import emit_contributions, grouped, grouped_names
from dpsql.emit.release.limited_sums import limited_totals, unit_group_sums
from dpsql.emit.sql.identifier import column_name, column_ref, reference, with_alias
from dpsql.engine.sidecar import unit_sums
from dpsql.engine.sidecar.row_columns import UNIT_ROW_COUNT
from dpsql.physical.cost import UNITS_PER_ROW, cost_of_rows
from dpsql.physical.emission import Emission
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE, UNIT_COUNT_TYPE
from dpsql.physical.sidecar_rows import SidecarRows, at_most, sidecar_rows
from dpsql.physical.strategy.unlimited_sums import totals_of
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByRank,
    ByStoredRank,
    ByUnit,
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.bounded_release.column_names import total_name, value_count_name
from dpsql.plan.bounded_release.statistic import (
    Discretized,
    NonNullCount,
    RowCount,
    Statistic,
    Sum,
    UnitCount,
)
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, Plan, SidecarAccess
from dpsql.plan.prune_columns import prune
from dpsql.plan.traversal import columns
from dpsql.schema.sidecar_columns import SummedColumn, unit_sum_columns
from dpsql.schema.sql_type import BIGINT
from dpsql.structs import replace


class StoredSum(Struct, frozen=True):
    """A column of a unit's number of `values`, and one of their `total`, in steps."""

    values: Column
    total: Column


class StoredUnitSums(Struct, frozen=True):
    """Read one row for each of the `units` that no limit binds; sum the `rest`, of all others.

    A unit has so many rows as `row_count` says, all of them in one group. For each statistic `sums`
    has the stored sum; None if rows or units are counted. Of units over the limit of `max_rows` so
    many rows are counted where there is no `rest`.
    """

    limited: LimitGroups
    units: Contributions
    row_count: Column
    max_rows: int
    sums: tuple[StoredSum | None, ...]
    rest: Contributions | None
    note: str

    is_blocking: ClassVar = False

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:
        """The plan, where each sum is stored, and a unit has all its rows in a group, or none."""
        if not isinstance(limited, LimitGroups) or not limited.contributions.statistics:
            return None
        if isinstance(limited.limit, ByHash | ByRank | ByStoredRank):
            return None
        rows = sidecar_rows(limited, facts.verified)
        match None if rows is None else rows.unlimited_rows():
            case ((name, max_rows),) if rows is not None and name == UNIT_ROW_COUNT:
                names = _stored_sums(rows)
                return None if names is None else cls._of(rows, names, max_rows)
            case _:
                return None

    @classmethod
    def _of(cls, rows: SidecarRows, names: list[str], max_rows: int) -> Self:
        """The sums `names`, one for each statistic, of units of at most `max_rows` rows."""
        number = rows.free_number()
        row_count = Column(number, UNIT_ROW_COUNT, UNIT_COUNT_TYPE)
        stored = {
            name: StoredSum(
                Column(number + 1 + 2 * index, unit_sums.values_of(name), UNIT_COUNT_TYPE),
                Column(number + 2 + 2 * index, unit_sums.sum_of(name), BIGINT),
            )
            for index, name in enumerate(sorted({*names} - {UNIT_ROW_COUNT}))
        }
        added = (row_count, *(c for each in stored.values() for c in (each.values, each.total)))
        elimination, terms = rows.elimination, rows.contributions
        own = sorted(elimination.units, key=lambda column: column.id)
        scan = replace(elimination.scan, columns=(*own, *added), sidecar=SidecarAccess.UNITS)
        filters = (statistic.filter for statistic in terms.statistics)
        read = columns(*(key.expression for key in terms.keys), *filters) | {*added}
        units: Plan = scan
        rest = None
        if _counts_all_units(rows.limited):
            described = f"prepared: {UNIT_ROW_COUNT}, of which {max_rows} count"
        else:
            units = Filter(scan, at_most(row_count, max_rows))
            counted = replace(row_count, type=COUNT_TYPE)
            rest = rows.over(rows.scan(counted), rows.exceeds([(counted, max_rows)]))
            described = rows.describe(((UNIT_ROW_COUNT, max_rows),))
        source = replace_source(
            elimination.contributions.source,
            replace(rows.row_source, scan=elimination.scan),
            units,
            added,
        )
        return cls(
            rows.limited,
            replace(terms, source=prune(source, read)),
            row_count,
            max_rows,
            tuple(map(stored.get, names)),
            rest,
            f"{described}: sums of each unit stand ready{rows.describe_elimination()}",
        )

    def estimate(self) -> Fraction:
        """In passes over the rows, of which there are several for a unit."""
        return UNITS_PER_ROW * cost_of_rows(self.units)

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        totals = self._totals(emission)
        if self.rest is None:
            return totals
        sums = unit_group_sums(self.rest, emission.unit_rows(self.rest), emission.late)
        return limited_totals(self.limited, sums, emission.late, unlimited=totals)

    def _totals(self, emission: Emission) -> exp.Select:
        """Groups with the totals of the units, in integers of steps."""
        terms, late = self.units, emission.late
        groups_only = replace(terms, statistics=(), cell_choices=())
        stored = tuple(map(column_name, self._columns()))
        units = emit_contributions(
            groups_only, emission.releases, with_unit=False, late=late, extra=stored
        )
        units = units.where(*self._possible_sums(), copy=False)
        sums: dict[str, exp.Expr] = {}
        totals: list[exp.Expr] = []
        for number, (statistic, each) in enumerate(zip(terms.statistics, self.sums, strict=True)):
            summed = self._summed(statistic, each)
            sums[total_name(number)] = sum_of(filtered(summed, statistic))
            value, column = _value(statistic), column_ref(total_name(number))
            if self.rest is None:
                # Of no unit, or of none that a filter leaves, nothing is added.
                totals.append(exp.Coalesce(this=column, expressions=[integer(0)]))
                continue
            if value is None or each is None or not value.center:
                totals.append(column)
                continue
            count = value_count_name(number)
            sums[count] = sum_of(filtered(reference(each.values), statistic))
            # Of 128 bits, as the sum of their number is.
            centers = exp.Mul(this=column_ref(count), expression=integer(value.center))
            totals.append(exp.Sub(this=column, expression=centers))
        by = [column_ref(name) for name in grouped_names(terms, late)]
        groups = grouped(units, by, [with_alias(item, name) for name, item in sums.items()])
        return totals_of(groups, terms, late, list(sums), totals)

    def _summed(self, statistic: Statistic, stored: StoredSum | None) -> exp.Expr:
        match statistic.term, stored:
            case UnitCount(), None:
                return integer(1)
            case RowCount(), None:
                rows, limit = reference(self.row_count), integer(self.max_rows)
                if self.rest is not None:
                    return rows
                many = exp.GT(this=rows.copy(), expression=limit)
                return exp.case().when(many, limit.copy(), copy=False).else_(rows, copy=False)
            case NonNullCount(), StoredSum(values=values):
                return reference(values)
            case Sum(), StoredSum(total=summed):
                return reference(summed)
            case _:
                raise ValueError("no sum is stored for the statistic")

    def _columns(self) -> tuple[Column, ...]:
        stored = (c for each in self.sums if each is not None for c in (each.values, each.total))
        filtered_by = columns(*(statistic.filter for statistic in self.units.statistics))
        return tuple(sorted({self.row_count, *stored, *filtered_by}, key=lambda column: column.id))

    def _possible_sums(self) -> Iterator[exp.Expr]:
        """Conditions that a unit has no more values than rows, and that so many can have their sum.

        A row that says more than a unit of so many rows could is left out.
        """
        tested: set[StoredSum] = set()
        for statistic, stored in zip(self.units.statistics, self.sums, strict=True):
            if stored is None:
                continue
            values, value = reference(stored.values), _value(statistic)
            if stored not in tested:
                tested.add(stored)
                yield exp.LTE(this=values, expression=reference(self.row_count))
            if value is not None:
                # 16 bits times 46: literals of 32 bits would overflow.
                low, high = (
                    exp.Mul(this=cast(values.copy(), "BIGINT"), expression=integer(end))
                    for end in (value.low, value.high)
                )
                yield exp.Between(this=reference(stored.total), low=low, high=high)


def _counts_all_units(limited: LimitGroups) -> bool:
    """What a unit over the limit counts for follows from how many rows it has, all in one group.

    A limit on rows in all groups, or on their norm, is enforced where a unit's groups are.
    """
    if limited.rows is not None or not isinstance(limited.limit, ByDomain | ByUnit):
        return False
    return all(
        isinstance(s.term, RowCount) or (isinstance(s.term, UnitCount) and s.filter is None)
        for s in limited.contributions.statistics
    )


def _stored_sums(rows: SidecarRows) -> list[str] | None:
    """For each statistic the column whose stored sum it is; None if any isn't stored."""
    stored, terms = unit_sum_columns(rows.row_source.scan.table), rows.contributions
    if stored is None or unit_independent_keys(terms, rows.trusted):
        return None
    if not rows.elimination.reads_unit_only:
        return None
    by_name = {each.column.name: each for each in stored}
    names = [_stored_sum(statistic, rows.row_source, by_name) for statistic in terms.statistics]
    known = [name for name in names if name is not None]
    return known if len(known) == len(names) else None


def _stored_sum(
    statistic: Statistic, source: RowSource, stored: Mapping[str, SummedColumn]
) -> str | None:
    """The column whose sum or number of values it is; `UNIT_ROW_COUNT` if it is of all rows."""
    match statistic.term:
        case RowCount() | UnitCount():
            return UNIT_ROW_COUNT
        case NonNullCount(argument=Column() as argument):
            column = source.columns.get(argument)
            return column.name if column is not None and column.name in stored else None
        case Sum(value=Discretized(argument=Column() as argument) as value):
            column = source.columns.get(argument)
            each = None if column is None else stored.get(column.name)
            wanted = value.step, value.low, value.high
            if each is None or (each.step, each.low, each.high) != wanted:
                return None
            return each.column.name
        case _:
            return None


def _value(statistic: Statistic) -> Discretized | None:
    return statistic.term.value if isinstance(statistic.term, Sum) else None
