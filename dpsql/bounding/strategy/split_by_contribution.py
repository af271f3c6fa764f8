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
from dpsql.analysis.lineage.row_source import Stem, over, stem
from dpsql.bounding.contribution_limit import free_keys
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.strategy.clamp_elimination import BEYOND, within_bounds
from dpsql.bounding.strategy.owner_join_elimination import Direct, direct
from dpsql.bounding.strategy.stored_unit_sums import NUMBER, unit_sums
from dpsql.engine.sidecar.row_columns import MOST, ROWS, beyond_of, first_of, place_of, rows_with
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    Chosen,
    LightRows,
    LimitGroups,
    Split,
    Terms,
)
from dpsql.plan.bounded_release.statistic import Ones, Presence, Statistic
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
from dpsql.plan.operator import Filter, Join, Ready, Scan
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import operators
from dpsql.schema.model import Column as Declared
from dpsql.schema.model import Table
from dpsql.schema.sidecar_columns import bounded, counted
from dpsql.schema.sql_type import Boolean

_MOST_TABLES = 2
"""What is joined is joined for each part: of many tables, that takes longer than telling units."""


def split_rows(limited: LimitGroups, facts: Facts) -> Chosen | None:
    """The rows in two parts, if they stand ready and something is to be limited."""
    terms = limited.terms
    found = stem(terms.source, facts.verified)
    if found is None or found.scan.ready is None:
        return None
    parts = _Parts(limited, terms, found, direct(terms, found.scan), facts)
    conditions = parts.conditions() if terms.statistics else None
    if conditions is None:
        return None
    said = "prepared: " + " and ".join(f"{name} <= {most}" for name, most in conditions.light)
    without = parts.direct.without
    left_out = "".join(f"; {name} isn't read: rows have their unit" for name in without)
    split = parts.of_units(conditions)
    if split is not None:
        return split, f"{said}: sums of each unit stand ready{left_out}"
    scans = sum(isinstance(operator, Scan) for operator in operators(parts.direct.terms.source))
    if scans > _MOST_TABLES or not parts.are_sums:
        return None
    light, rest = parts.of_rows(conditions)
    note = f"{said}: summed without regard to units"
    if conditions.drawn is not None:
        place, groups = conditions.drawn
        note += f"; {place} <= {groups}: drawn once for all queries"
    if light.within is not None:
        note += "; rows within all bounds: without clamps"
    return Split(light, rest), note + left_out


@dataclass(frozen=True, slots=True)
class _Conditions:
    """A column beside each row and the most it holds: of light rows, and of rows that are kept.

    Light rows have no more than each of `light` says.
    """

    light: tuple[tuple[str, int], ...]
    drawn: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class _Parts:
    """How the rows below `limited` are told apart."""

    limited: LimitGroups
    terms: Terms
    stem: Stem
    direct: Direct
    facts: Facts

    @property
    def are_sums(self) -> bool:
        """Numbers of units are sums over rows only where one row of each unit is marked."""
        units = any(isinstance(s.term, Presence) for s in self.terms.statistics)
        return not units or (self.stem.is_whole and self._only() is not None)

    def conditions(self) -> _Conditions | None:
        """None if no row is light for sure."""
        drawn = None
        if isinstance(self.limited.limit, ByHash):
            only = self._only()
            if only is None or not self._may_draw():
                return None
            drawn = place_of(only), self.limited.limit.groups
        column, rows = self._column(), self.limited.source.rows_per_group
        light = [(ROWS if column is None else rows_with(column), rows)]
        in_all = self.limited.rows
        if in_all is not None and column is not None:
            # Of no more rows in all, there are no more in a group.
            light = [(ROWS, in_all), *(light if rows < in_all else [])]
        if max(*(most for _, most in light), 0 if drawn is None else drawn[1]) >= MOST:
            return None
        return _Conditions(tuple(light), drawn)

    def of_units(self, conditions: _Conditions) -> Split | None:
        """Light units' sums as they stand ready, and the rows of others; None if they don't."""
        match conditions:
            case _Conditions(light=((name, most),), drawn=None) if name == ROWS:
                number = self._free_number()
                light = unit_sums(self.terms, self.stem, self.direct, self.facts, number, most)
                if light is None:
                    return None
                more = self._rarely([_more(light.rows, most)])
                return Split(light, self._over(self._wide(light.rows), more, ()))
            case _:
                return None

    def of_rows(self, conditions: _Conditions) -> tuple[LightRows, Terms]:
        """Both parts over the table with what stands beside its rows."""
        drawn, only, number = conditions.drawn, self._only(), self._free_number()
        most = [
            (Column(number + 2 + n, name, NUMBER), limit)
            for n, (name, limit) in enumerate(conditions.light)
        ]
        place = None if drawn is None else Column(number, drawn[0], NUMBER)
        first = None
        if only is not None and any(isinstance(s.term, Presence) for s in self.terms.statistics):
            first = Column(number + 1, first_of(only), Boolean())
        beside = (*(column for column, _ in most), place, first)
        added = tuple(column for column in beside if column is not None)
        wide = self._wide(*added)
        kept = [] if place is None or drawn is None else [_most(place, drawn[1])]
        handed = () if first is None else (first,)
        by_row = tuple(_by_row(s, first) for s in self.terms.statistics)
        summed, free = replace(self.terms, statistics=by_row), number + 2 + len(most)
        within = within_bounds(summed, self.stem, free)
        asked = () if within is None else within.beyond
        light = self._over(
            replace(wide, columns=(*wide.columns, *asked)),
            (*kept, *(_most(rows, limit) for rows, limit in most)),
            (*handed, *asked),
        )
        more = [_more(rows, limit) for rows, limit in most]
        rest = self._over(wide, (*kept, *self._rarely(more)), handed)
        return LightRows(replace(light, statistics=by_row), within), rest

    def _wide(self, *beside: Column) -> Scan:
        scan = self.direct.scan
        table, read = _with_counts(scan.table), (*scan.columns, *beside)
        return replace(scan, table=table, columns=read, ready=Ready.NUMBERED)

    def _over(
        self, scan: Scan, conditions: tuple[Expression, ...], handed: tuple[Column, ...]
    ) -> Terms:
        part, known = Filter(scan, conjunction(conditions)), self.direct
        found = replace(self.stem, scan=known.scan)
        return replace(self.terms, source=over(known.terms.source, found, part, handed))

    def _rarely(self, more: list[Compare]) -> tuple[Expression, ...]:
        """Any of `more`; where rows are joined, so that the engine takes them for few.

        Of rows that one comparison of a column leaves, it expects a fifth, and would keep in memory
        whom they may meet. One of what is computed leaves a fifth of these.
        """
        if len(more) > 1:
            return (Or(tuple(more)),)
        (found,) = more
        if not any(isinstance(operator, Join) for operator in operators(self.terms.source)):
            return (found,)
        same = Call("&", (found.left, Literal(MOST, NUMBER)), NUMBER)
        return found, replace(found, left=same)

    def _column(self) -> str | None:
        """The column with most values by which rows are counted, among the keys."""
        found = [name for place in range(len(self.terms.keys)) for name in self._counted(place)]
        return max(found, key=self._size, default=None)

    def _size(self, name: str) -> tuple[float, str]:
        values = self.stem.scan.table.columns[name].values
        return (float("inf") if values is None else len(values), name)

    def _only(self) -> str | None:
        """The column that alone the unit doesn't determine of the keys: its values are groups."""
        free = free_keys(self.terms, self.facts.verified)
        names = {name for place in free for name in self._named(place)}
        (name,) = names if len(names) == 1 else (None,)
        return name

    def _named(self, place: int) -> tuple[str | None, ...]:
        return self._counted(place) or (None,)

    def _counted(self, place: int) -> tuple[str, ...]:
        key = self.terms.keys[place].expression
        column = self.stem.columns.get(key) if isinstance(key, Column) else None
        if column is None or column.name not in counted(self.stem.scan.table):
            return ()
        return (column.name,)

    def _may_draw(self) -> bool:
        """Every value is a group, and no other choice of groups has to be the same."""
        if any(s.is_of_values for s in self.terms.statistics):
            return False
        return self.stem.is_whole and not self.terms.selections

    def _free_number(self) -> int:
        """Above those of all columns that a part may name."""
        found = list(operators(self.terms.source))
        columns = [column for plan in found for column in output_columns(plan)]
        units = [own for own in map(unit, found) if own is not None]
        return max(column.id for column in (*columns, *units)) + 1


def _with_counts(table: Table) -> Table:
    """`table` with the columns that stand beside its rows in a sidecar."""
    names = [ROWS]
    names += [name(c) for c in counted(table) for name in (rows_with, place_of)]
    added = {n: Declared(n, NUMBER, bounds=(0, MOST), nullable=False) for n in names}
    added |= {
        name: Declared(name, Boolean(), nullable=False) for name in map(first_of, counted(table))
    }
    added |= {
        name: Declared(name, BEYOND, bounds=(0, 1), nullable=False)
        for name in (beyond_of(column.name) for column in bounded(table))
    }
    return replace(table, columns={**table.columns, **added})


def _by_row(statistic: Statistic, first: Column | None) -> Statistic:
    """Of a unit's rows in a group, the one that is marked counts for the unit."""
    if first is not None and isinstance(statistic.term, Presence):
        return Statistic(Ones(), first)
    return statistic


def _most(column: Column, most: int) -> Expression:
    return Compare(Comparison.LESS_EQUAL, column, Literal(most, NUMBER))


def _more(column: Column, most: int) -> Compare:
    return Compare(Comparison.GREATER, column, Literal(most, NUMBER))
