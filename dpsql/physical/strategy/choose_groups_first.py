"""Units' groups are chosen before their rows are summed, where there are few cells to choose from.

That a unit keeps 12 of its groups by their ranks is known only when all of its rows in each group
are summed: a table nearly as long as the rows, to be sorted. If a set of all cells fits a number,
a first look at the rows tells which groups each unit has:

revenue by month, of 84; a unit of 40 lines in 20 months keeps 12 of them

| level     | one row per | columns                                                              |
| --------- | ----------- | -------------------------------------------------------------------- |
| ranked    | row         | u, groups, terms; p, the rank of cell x in the unit's order h of all |
| units     | unit        | mu; m, the set of its ranks; whether no limit on rows can bind       |
| unlimited | row         | u, groups, terms of rows in the first ranks of such a unit           |
| limited   | row         | the same of all other units: GROUP BY unit, month; scale, clamp      |

The order is another one for each query: two numbers from the keyed hash of the unit make it, so
that a unit's choice depends on its own rows and the key alone. No two cells share a rank, so that
there are no more groups among a unit's first 12 ranks than 12.

A unit of n rows in d groups has at most n - d + 1 of them in one group, since there is one in each
other; and if it keeps k of its groups, at most n - d + k rows in those. A row in no cell has no
rank: it isn't counted, and no unit keeps it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Final, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contributions import (
    all_term_names,
    emit_contributions,
    group_names,
    grouped,
    select_from,
)
from dpsql.emit.release.group_limit import cell, rank_of_cell, unit_order
from dpsql.emit.release.limited_sums import limited_totals, unit_group_sums
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.physical.cost import SETS_OF_RANKS, cost_of_rows
from dpsql.physical.emission import NO_DOMAINS, Emission
from dpsql.physical.strategy.unlimited_sums import has_caps, unlimited_totals
from dpsql.plan.bounded_release.bounded_release import ByRank, Limited, LimitGroups
from dpsql.plan.bounded_release.column_names import UNIT
from dpsql.schema.sql_type import HUGEINT

_RANKED: Final = "placed"
_UNITS: Final = "units"

_ORDER: Final = "h"
_CELL: Final = "x"
_RANK: Final = "p"
_RANKS: Final = "m"
_ROWS: Final = "n"
_OWN_UNIT: Final = "mu"
_IS_UNLIMITED: Final = "light"


class ChooseGroupsFirst(Struct, frozen=True):
    """Find which groups each unit has, and sum the rows of those alone that it keeps.

    They are the first `groups` that it has in its own order of all cells, each of another of
    `ranks`.
    """

    limited: LimitGroups
    cells: int
    groups: int
    ranks: int

    is_blocking: ClassVar = True
    """All rows wait in memory, with their ranks."""

    @classmethod
    def applies(cls, limited: Limited, facts: Facts) -> Self | None:  # noqa: ARG003 - as all do
        """The plan, where each unit's groups are chosen by rank; None elsewhere."""
        match limited:
            case LimitGroups(limit=ByRank(groups=groups, ranks=ranks)) if not has_caps(
                limited.contributions
            ):
                cells = 1
                for domain in limited.contributions.domains:
                    cells *= len(domain.cells)
                return cls(limited, cells, groups, ranks)
            case _:
                return None

    def estimate(self) -> Fraction:
        """In passes over the rows."""
        return cost_of_rows(self.limited.contributions) + SETS_OF_RANKS

    @property
    def note(self) -> str:
        """What an analyst is told."""
        return f"groups: of all {self.cells}, each unit's are drawn before its rows are summed"

    def emit(self, emission: Emission) -> exp.Select:
        """The totals of groups."""
        terms = self.limited.contributions
        # DuckDB takes few of the rows to be in cells, and would keep those in memory for a join
        # with their units.
        rows = emission.batch(
            emit_contributions(terms, emission.releases, with_unit=True, inner_key_joins=False)
        )
        unlimited = unlimited_totals(terms, self._chosen_rows(are_limited=False), NO_DOMAINS)
        sums = unit_group_sums(terms, self._chosen_rows(are_limited=True), NO_DOMAINS)
        totals = limited_totals(
            self.limited, sums, NO_DOMAINS, unlimited=unlimited, are_chosen=True
        )
        return totals.with_(_RANKED, as_=self._ranked(rows), materialized=True, copy=False).with_(
            _UNITS, as_=self._units(), materialized=True, copy=False
        )

    def _chosen_rows(self, *, are_limited: bool) -> exp.Select:
        """The rows that units keep: of those that a limit on rows may bind, or of all others."""
        terms, unlimited = self.limited.contributions, column_ref(_IS_UNLIMITED)
        # How many of the unit's groups have an earlier rank.
        later = exp.BitwiseRightShift(this=column_ref(_RANKS), expression=column_ref(_RANK))
        before = exp.Sub(this=_size(column_ref(_RANKS)), expression=_size(later))
        columns = [UNIT, *group_names(terms), *all_term_names(terms)]
        same_unit = exp.EQ(this=column_ref(UNIT), expression=column_ref(_OWN_UNIT))
        return (
            select_of(map(column_ref, columns), table(_RANKED))
            .join(table(_UNITS), on=same_unit, copy=False)
            .where(
                exp.LT(this=before, expression=integer(self.groups)),
                exp.Not(this=unlimited) if are_limited else unlimited,
                copy=False,
            )
        )

    def _ranked(self, rows: exp.Select) -> exp.Select:
        """Each row with the rank of its group in the order that the unit's hash chooses."""
        terms = self.limited.contributions
        groups = group_names(terms)
        others = [column_ref(name) for name in (UNIT, *all_term_names(terms))]
        columns = [*others, *map(column_ref, groups)]
        order = with_alias(unit_order(self.limited, self.ranks), _ORDER)
        number = with_alias(cast(cell(terms), "INTEGER"), _CELL)
        rank = rank_of_cell(column_ref(_ORDER), column_ref(_CELL), self.ranks)
        # Fewer cells than ranks, which are fewer than a byte has: rows are kept in memory.
        narrow = {name: column_ref(name) for name in groups} | {_RANK: rank}
        bytes_ = [with_alias(cast(e, "UTINYINT"), name) for name, e in narrow.items()]
        return select_from(select_from(rows, [*columns, order, number]), [*others, *bytes_])

    def _units(self) -> exp.Select:
        """In which ranks each unit has rows, and whether they are few."""
        one = exp.BitwiseLeftShift(this=emit_literal(1, HUGEINT), expression=column_ref(_RANK))
        items = [
            with_alias(exp.Anonymous(this="count", expressions=[column_ref(_RANK)]), _ROWS),
            with_alias(exp.Anonymous(this="bit_or", expressions=[one]), _RANKS),
        ]
        rows = select_of([exp.Star()], table(_RANKED))
        unlimited = with_alias(exp.Paren(this=self._is_unlimited()), _IS_UNLIMITED)
        return select_from(
            grouped(rows, [column_ref(UNIT)], items),
            [with_alias(column_ref(UNIT), _OWN_UNIT), column_ref(_RANKS), unlimited],
        )

    def _is_unlimited(self) -> exp.Expr:
        """The unit can't have more rows in a group than count there, nor in all that it keeps."""
        limited = self.limited
        groups = cast(_size(column_ref(_RANKS)), "BIGINT")
        beyond = exp.Sub(this=column_ref(_ROWS), expression=groups)
        in_one = exp.LT(this=beyond, expression=integer(rows_per_group(limited)))
        if limited.rows is None:
            return in_one
        rows_in_groups = exp.Add(this=beyond.copy(), expression=integer(self.groups))
        in_all = exp.or_(
            exp.LTE(this=column_ref(_ROWS), expression=integer(limited.rows)),
            exp.LTE(this=rows_in_groups, expression=integer(limited.rows)),
            copy=False,
        )
        return exp.and_(in_one, in_all, copy=False)


def _size(ranks: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="bit_count", expressions=[ranks])
