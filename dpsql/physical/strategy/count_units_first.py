"""Units of few rows are told from all others by counting, before anything is summed for a unit.

Which of its groups a unit keeps is known once its rows are summed in each of them, and each group
is ranked by its hash. A unit of 12 rows has 12 groups at most, and as many rows in one of them:

revenue by supplier, of 10,000, in a quarter; 12 groups and 60 rows in each

rows       each with its unit and group
many       units of more than 12 rows
unlimited  rows of other units: GROUP BY supplier
limited    rows of `many`: GROUP BY unit, supplier; scale, clamp, limit; then GROUP BY supplier

A unit is in one of both parts with all of its rows, and that depends on its own rows alone. In the
unlimited one no sum would be scaled or clamped, and no group would be left out. Where units are
counted too, to tell which groups may be shown, each counts once in each of its groups, in either
part.

Of a key that a sidecar counts rows by, most rows are lone: their unit has no other with this value
in the whole table, and so none in their group, whatever is asked of rows, or joined to each. Where
units are counted, these are counted as they are, and all others are of the limited part: of a unit
of few rows no limit binds some of them, either. Keys are integers that are listed: of those that
aren't, several values that can't be read are one group, in which each of two lone rows would be a
unit.

It takes longer where most units are of `many`. How many rows a unit has is data, so that what the
schema says has to do: half of as many as count in all, of which a filter leaves its part of the
values that are declared. By a declared key, or by the statement's own GROUP BY, a unit may have one
row alone, as customers that are counted by how many orders they have: then none is of `many`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.group_choice import counted_column, is_sum_only
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.release.limited_sums import limited_totals, unit_group_sums
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_name, column_ref, table, with_alias
from dpsql.engine.sidecar.row_columns import value_count_column
from dpsql.physical.cost import (
    COUNT_UNITS,
    GROUP_BY_UNIT,
    cost_of_choice,
    cost_of_rows,
    limited_share,
)
from dpsql.physical.emission import Emission
from dpsql.physical.modifier.sidecar_access import COUNT_TYPE
from dpsql.physical.selectivity import selectivity
from dpsql.physical.sidecar_rows import SidecarRows, sidecar_rows
from dpsql.physical.strategy.bound_units import totals_of_bound_units, unit_unless
from dpsql.physical.strategy.month_span import MonthSpan, month_span
from dpsql.physical.strategy.unlimited_sums import counts_units, has_caps, unlimited_totals
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ByRank,
    Contributions,
    Limited,
    LimitGroups,
)
from dpsql.plan.bounded_release.column_names import UNIT
from dpsql.plan.expression import Column
from dpsql.schema.sql_type import Integer

_ROWS: Final = "counted"
_OVER_LIMIT: Final = "many"
_LIMITED_UNIT: Final = "mu"


class CountUnitsFirst(Struct, frozen=True):
    """Sum the rows of units of at most `max_rows` rows, which no limit binds, without units.

    `rows` are those that are read, beside each of which is in `value_rows` how many its unit has of
    one key's value; None where units aren't counted, or no sidecar says so. Where it says how many
    the unit has in a month of the `span`, units are counted of which it isn't known that they have
    few. All rows wait, and are few but where each `is_only_one` of its unit.
    """

    limited: LimitGroups
    max_rows: int
    rows: Contributions
    value_rows: Column | None
    span: MonthSpan | None
    is_only_one: bool

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:
        """The plan, where each unit's groups are chosen, and sums are asked of their rows."""
        if not isinstance(limited, LimitGroups) or not isinstance(limited.limit, ByHash | ByRank):
            return None
        terms = limited.contributions
        if not is_sum_only(terms, of_units=True) or has_caps(terms):
            return None
        in_all = [] if limited.rows is None else [limited.rows]
        max_rows = min(limited.limit.groups, rows_per_group(limited), *in_all)
        # Sums by units in groups of any number are kept for statements that ask again.
        is_ranked = isinstance(limited.limit, ByRank)
        is_only_one = is_ranked and one_row_per_unit(terms.source, declared)
        rows = sidecar_rows(limited, facts.verified)
        if rows is None:
            return cls(limited, max_rows, terms, None, None, is_only_one)
        first = rows.free_number()
        name = _counted_key(rows) if counts_units(terms) else None
        counted = None if name is None else Column(first, value_count_column(name), COUNT_TYPE)
        span = None if is_only_one else month_span(rows, first + 1, max_rows)
        added = _stored(counted, span)
        read = rows.over(rows.scan(*added), (), added) if added else terms
        return cls(limited, max_rows, read, counted, span, is_only_one)

    @property
    def is_blocking(self) -> bool:
        """Whether most rows wait in memory."""
        return self.is_only_one

    def estimate(self) -> Fraction:
        """In passes over the rows, of which the units over the limit have a share."""
        terms = self.limited.contributions
        none = Fraction(0)
        share = none if self.is_only_one else limited_share(_expected_rows(terms), self.max_rows)
        limits = GROUP_BY_UNIT + cost_of_choice(self.limited.limit)
        return cost_of_rows(terms) + COUNT_UNITS + share * limits

    @property
    def note(self) -> str:
        """What an analyst is told."""
        rows = f"{self.max_rows} row{'s' if self.max_rows > 1 else ''}"
        return f"units of at most {rows}: summed without regard to units"

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        terms, late = self.limited.contributions, emission.late
        extra = tuple(map(column_name, _stored(self.value_rows, self.span)))
        rows = emission.unit_rows(self.rows, extra)
        is_limited = _is_in(select_of([column_ref(_LIMITED_UNIT)], table(_OVER_LIMIT)))
        is_few = exp.Not(this=is_limited)
        if self.value_rows is None:
            few = _rows().where(is_few, copy=False)
            sums = unit_group_sums(terms, _rows().where(is_limited.copy(), copy=False), late)
            unlimited = unlimited_totals(terms, few, late)
            totals = limited_totals(self.limited, sums, late, unlimited=unlimited)
            return self._counted(totals, rows)
        is_unlimited = exp.and_(is_few, _is_up_to(self.value_rows, 1), copy=False)
        bound = with_alias(unit_unless(is_unlimited), UNIT)
        others = (name for name in rows.named_selects if name not in {UNIT, *extra})
        by_unit = select_of([bound, *map(column_ref, others)], table(_ROWS))
        # By names: what is grouped by has no subquery.
        counted = self._counted(by_unit, rows)
        return totals_of_bound_units(self.limited, terms, counted, column_ref(UNIT), late)

    def _counted(self, select: exp.Select, rows: exp.Select) -> exp.Select:
        """`select` of the `rows`, and of the units that have too many of them."""
        return select.with_(_ROWS, as_=rows, materialized=True, copy=False).with_(
            _OVER_LIMIT, as_=self._limited_units(), materialized=True, copy=False
        )

    def _limited_units(self) -> exp.Select:
        units = select_of([with_alias(column_ref(UNIT), _LIMITED_UNIT)], table(_ROWS))
        if self.span is not None:
            few = _is_up_to(self.span.rows, self.span.month_limit(self.max_rows))
            busy = select_of([column_ref(UNIT)], table(_ROWS)).where(exp.Not(this=few), copy=False)
            units = units.where(_is_in(busy), copy=False)
        return units.group_by(column_ref(UNIT), copy=False).having(
            exp.GT(this=number_of_rows(), expression=integer(self.max_rows)), copy=False
        )


def _rows() -> exp.Select:
    return select_of([exp.Star()], table(_ROWS))


def _stored(value_rows: Column | None, span: MonthSpan | None) -> tuple[Column, ...]:
    """The columns of a sidecar that are read beside the rows."""
    return tuple(c for c in (value_rows, None if span is None else span.rows) if c is not None)


def _is_in(units: exp.Select) -> exp.Expr:
    return exp.In(this=column_ref(UNIT), query=exp.Subquery(this=units))


def _is_up_to(column: Column, limit: int) -> exp.Expr:
    """Whether a stored number is known to be no more than `limit`."""
    known = exp.LTE(this=column_ref(column_name(column)), expression=integer(limit))
    return exp.Coalesce(this=known, expressions=[exp.false()])


def _counted_key(rows: SidecarRows) -> str | None:
    """The key, a listed integer, by whose values rows are counted; None if there is none."""
    if rows.is_on_server:
        return None
    terms = rows.contributions
    for index in sorted(index for domain in terms.domains for index in domain.keys):
        key = terms.keys[index].expression
        if isinstance(key, Column) and isinstance(key.type, Integer):
            name = counted_column(terms, rows.row_source, index)
            if name is not None:
                return name
    return None


def _expected_rows(contributions: Contributions) -> Fraction:
    """How many rows a unit is taken to have."""
    return selectivity(contributions.source) * highest_fanout_table(contributions).limits.rows / 2
