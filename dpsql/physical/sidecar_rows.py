"""A release's rows as a sidecar stores them: beside each, how many rows its unit has.

Numbers of a unit's rows are stored for the unit, and for its rows of each value of a column. They
tell which rows are of units that no limit can bind: whatever is filtered or joined on the way only
leaves fewer rows of a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from msgspec import Struct

from dpsql.analysis.lineage.functional_dependency import Trusted
from dpsql.analysis.lineage.lineage import unit
from dpsql.analysis.lineage.row_source import RowSource, replace_source, row_source
from dpsql.bounding.group_choice import counted_column, only_group_column
from dpsql.bounding.public_facts import Facts
from dpsql.engine.sidecar.row_columns import (
    COUNT_CAP,
    UNIT_ROW_COUNT,
    distinct_count_column,
    group_rank_column,
    value_count_column,
)
from dpsql.physical.modifier.owner_join_elimination import (
    OwnerJoinElimination,
    eliminate_owner_joins,
)
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE, with_sidecar_columns
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    Contributions,
    LimitGroups,
)
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
from dpsql.privacy.domain import Value
from dpsql.schema.sidecar_columns import group_count_columns
from dpsql.structs import replace

CountLimits = tuple[tuple[str, int], ...]
"""Columns that a sidecar stores beside each row, each with the most that it may hold."""


class SidecarRows(Struct, frozen=True):
    """The rows below `limited`, one for one those of the sidecar's table `row_source`.

    `elimination` has them without the tables that lead from a row to its unit.
    """

    limited: LimitGroups
    row_source: RowSource
    elimination: OwnerJoinElimination
    trusted: Trusted

    @property
    def contributions(self) -> Contributions:
        """The rows as the statement asks for them."""
        return self.limited.contributions

    def unlimited_rows(self) -> CountLimits | None:
        """The counts up to which no limit can bind a row's unit in its group; None if none are.

        Where a unit's rows in all its groups are limited, too, it has no more in all, of any group.
        Where its groups are drawn, `value_limits` has what it must not exceed, either.
        """
        if self.value_limits() is None:
            return None
        column, rows = self._finest_column(), self.limited.source.rows_per_group
        limits = [(UNIT_ROW_COUNT if column is None else value_count_column(column), rows)]
        in_all = self.limited.rows
        if isinstance(self.limited.limit, ByNorm):
            # An L1 norm is Σ u, an L2 norm Σ u² <= r·Σ u if no u is above r: no more than groups·r
            # or groups·r², if there are no more than groups·r rows in all.
            in_all = self.limited.limit.groups * rows
        if in_all is not None and column is not None:
            # Of no more rows in all, there are no more in a group.
            limits = [(UNIT_ROW_COUNT, in_all), *(limits if rows < in_all else [])]
        return None if max(limit for _, limit in limits) >= COUNT_CAP else tuple(limits)

    def value_limits(self) -> CountLimits | None:
        """The counts up to which a unit has no more groups than count; None if none are.

        Its groups are combinations of its values of the keys, so that there are no more than the
        product of their numbers. A unit is taken to have NULL in none: of 3 flags and 2 statuses it
        has 6 groups, where 12 are listed. Of keys that aren't listed it may have as many values as
        fit, of each the same number. None where that is too many, or a key is no counted column: no
        key of a table is believed to determine it. There are no such counts where a unit's groups
        aren't drawn, or are by stored ranks.
        """
        match self.limited.limit:
            case ByHash(groups=groups) | ByRank(groups=groups):
                pass
            case _:
                return ()
        # A count of COUNT_CAP means so many or more.
        groups = min(groups, COUNT_CAP - 1)
        limits: dict[str, int] = {}
        unlisted: list[str] = []
        names = self.key_columns()
        if names is None:
            return None
        for index, name in enumerate(names):
            values = self._listed_values(index)
            if values is None:
                unlisted.append(name)
            else:
                limits[name] = len(values)
        limits |= _as_many_each(unlisted, groups // max(1, prod(limits.values())))
        if self.is_on_server or not 0 < prod(limits.values()) <= groups:
            return None
        return tuple((distinct_count_column(name), number) for name, number in limits.items())

    def key_columns(self) -> tuple[str, ...] | None:
        """The columns that the keys are; None if rows aren't counted by the values of each."""
        indices = range(len(self.contributions.keys))
        names = [counted_column(self.contributions, self.row_source, index) for index in indices]
        own = [name for name in names if name is not None and name in self._columns_with_marks]
        return tuple(own) if len(own) == len(names) else None

    def stored_rank(self, number: int) -> tuple[Column, int] | None:
        """The column of the rank that chooses a unit's groups, and the highest that it keeps."""
        match self.limited.limit:
            case ByStoredRank(groups=groups, column=column):
                return Column(number, group_rank_column(column), COUNT_TYPE), groups
            case _:
                return None

    def marked_column(self) -> str | None:
        """The column whose values alone are a unit's groups, if one row of each is marked."""
        name = only_group_column(self.contributions, self.row_source, self.trusted)
        return name if name in self._columns_with_marks else None

    def free_number(self) -> int:
        """A number above those of all columns that a part of the rows may name."""
        plans = list(operators(self.contributions.source))
        columns = [column for plan in plans for column in output_columns(plan)]
        units = [own for own in map(unit, plans) if own is not None]
        return max(column.id for column in (*columns, *units)) + 1

    def scan(self, *stored: Column) -> Scan:
        """The table with these columns that the sidecar stores beside its rows."""
        scan = self.elimination.scan
        table, read = with_sidecar_columns(scan.table), (*scan.columns, *stored)
        access = SidecarAccess.ON_SERVER if self.is_on_server else SidecarAccess.NUMBERED
        return replace(scan, table=table, columns=read, sidecar=access)

    @property
    def is_on_server(self) -> bool:
        """Whether the rows are stored on a server, which has no sums of units and no ranks."""
        return self.row_source.scan.sidecar is SidecarAccess.ON_SERVER

    def over(
        self, scan: Scan, conditions: Sequence[Expression], added: tuple[Column, ...] = ()
    ) -> Contributions:
        """The rows of `scan` that meet `conditions`, with `added` columns handed on."""
        known = self.elimination
        part = Filter(scan, conjunction(tuple(conditions))) if conditions else scan
        source = replace(self.row_source, scan=known.scan)
        return replace(
            self.contributions,
            source=replace_source(known.contributions.source, source, part, added),
        )

    def exceeds(self, limits: Sequence[tuple[Column, int]]) -> tuple[Expression, ...]:
        """Conditions that any of `limits` is exceeded, such that the engine expects few such rows.

        Of rows that one comparison of a column leaves, it expects a fifth, and would keep in memory
        whom they may meet. One of what is computed leaves a fifth of these.
        """
        more = [Compare(Comparison.GREATER, c, Literal(n, c.type)) for c, n in limits]
        if len(more) > 1:
            return (Or(tuple(more)),)
        (only,) = more
        if self.is_on_server or not any(
            isinstance(operator, Join) for operator in operators(self.contributions.source)
        ):
            return (only,)
        same = Call("&", (only.left, Literal(COUNT_CAP, COUNT_TYPE)), COUNT_TYPE)
        return only, replace(only, left=same)

    def over_limits(self, limits: Sequence[tuple[Column, int]]) -> Filter:
        """The table's rows that exceed any of `limits`, whatever a statement asks of them."""
        scan = replace(self.scan(), columns=tuple(column for column, _ in limits))
        return Filter(scan, conjunction(self.exceeds(limits)))

    def describe(self, limits: CountLimits) -> str:
        """The counts, as an analyst is told."""
        return "prepared: " + " and ".join(f"{name} <= {limit}" for name, limit in limits)

    def describe_elimination(self) -> str:
        """The tables that aren't read, as an analyst is told."""
        names = self.elimination.eliminated_tables
        return "".join(f"; {name} isn't read: rows have their unit" for name in names)

    @property
    def _columns_with_marks(self) -> Sequence[str]:
        """The columns of whose values more is stored than of a day's months."""
        return group_count_columns(self.row_source.scan.table)

    def _listed_values(self, index: int) -> set[Value] | None:
        """The values but NULL that the key at `index` may have; None if they aren't listed."""
        for domain in self.contributions.domains:
            if index in domain.keys:
                values = {cell[domain.keys.index(index)] for cell in domain.cells}
                return {value for value in values if value is not None}
        return None

    def _finest_column(self) -> str | None:
        """The column with most values by which rows are counted, among the keys."""
        indices = range(len(self.contributions.keys))
        names = [counted_column(self.contributions, self.row_source, index) for index in indices]
        return max((name for name in names if name is not None), key=self._size, default=None)

    def _size(self, name: str) -> tuple[float, str]:
        column = self.row_source.scan.table.columns.get(name)
        values = None if column is None else column.values
        return (float("inf") if values is None else len(values), name)


def _as_many_each(names: Sequence[str], product: int) -> dict[str, int]:
    """The same number for each of `names`, the largest such that their product is no more."""
    if len(names) < 2:
        return dict.fromkeys(names, product)
    # A product is below 2^16.
    return dict.fromkeys(names, max(n for n in range(2**8) if n ** len(names) <= product))


def sidecar_rows(limited: LimitGroups, trusted: Trusted) -> SidecarRows | None:
    """The rows below `limited`; None if they aren't those of one table in the sidecar."""
    terms = limited.contributions
    rows = row_source(terms.source, trusted)
    if rows is None or rows.scan.sidecar is None:
        return None
    return SidecarRows(limited, rows, eliminate_owner_joins(terms, rows.scan), trusted)


def stored_rank_rows(limited: LimitGroups, facts: Facts) -> Contributions:
    """The rows below `limited` in the groups that stored ranks choose."""
    rows = sidecar_rows(limited, facts.verified)
    rank = None if rows is None else rows.stored_rank(rows.free_number())
    if rows is None or rank is None:
        raise ValueError("ranks are stored beside the rows of a sidecar")
    column, groups = rank
    return rows.over(rows.scan(column), (at_most(column, groups),))


def at_most(column: Column, limit: int) -> Expression:
    """The condition that a stored number is no larger than `limit`."""
    return Compare(Comparison.LESS_EQUAL, column, Literal(limit, column.type))
