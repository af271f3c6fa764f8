"""Units' groups are chosen before their rows are summed, where there are few cells to choose from.

That a unit keeps 12 of its groups is known only when all of its rows in each group are summed: a
table nearly as long as the rows, to be sorted. If a set of all cells fits a number, a first look at
the rows tells which groups each unit has:

revenue by month, of 84; a unit of 40 lines in 20 months keeps 12 of them that follow each other

| level     | one row per | columns                                                              |
| --------- | ----------- | -------------------------------------------------------------------- |
| placed    | row         | u, groups, terms; x, the number of the row's cell                    |
| units     | unit        | mu; the first cell that it keeps, and how far on the last one is     |
|           |             | (`cell_window`); whether no limit on rows can bind                   |
| unlimited | row         | u, groups, terms of rows between these two cells of such a unit      |
| limited   | row         | the same of all other units: GROUP BY unit, month; scale, clamp      |

With which of its groups a unit begins is another for each query: a number from the keyed hash of
the unit says it, so that a unit's choice depends on its own rows and the key alone. Between its
first cell and its last one, after the highest cell the lowest, lie 12 of its cells and no more.

A unit of n rows in d groups has at most n - d + 1 of them in one group, since there is one in each
other; and if it keeps k of its groups, at most n - d + k rows in those. A row in no cell isn't
counted, and no unit keeps it.

Rows that are stored with their units are read twice; others wait in memory, since to find them
again takes longer, and since a file might be another by then.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Final, Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.release.contributions import (
    all_term_names,
    emit_contributions,
    group_names,
    select_from,
)
from dpsql.emit.release.group_limit import cell
from dpsql.emit.release.limited_sums import limited_totals, unit_group_sums
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.physical.cost import SETS_OF_RANKS, cost_of_rows
from dpsql.physical.emission import NO_DOMAINS, Emission
from dpsql.physical.strategy.cell_window import (
    FIRST,
    GROUPS,
    SPAN,
    cell_window,
    is_in_window,
)
from dpsql.physical.strategy.unlimited_sums import has_caps, unlimited_totals
from dpsql.plan.bounded_release.bounded_release import ByRank, Limited, LimitGroups
from dpsql.plan.bounded_release.column_names import ROW_COUNT, UNIT
from dpsql.plan.operator import Filter, Plan, Project, Scan
from dpsql.plan.traversal import operators

_PLACED: Final = "placed"
_UNITS: Final = "units"

_CELL: Final = "x"
_OWN_UNIT: Final = "mu"
_IS_UNLIMITED: Final = "light"


class ChooseGroupsFirst(Struct, frozen=True):
    """Find which groups each unit has, and sum the rows of those alone that it keeps.

    They are `groups` that follow each other in the order of all `cells`, of which there are no more
    than `ranks`.
    """

    limited: LimitGroups
    cells: int
    groups: int
    ranks: int

    is_blocking: ClassVar = True
    """Rows wait in memory, with their cells, or else their units."""

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
        waits = not _are_stored(terms.source)
        return totals.with_(_PLACED, as_=self._placed(rows), materialized=waits, copy=False).with_(
            _UNITS, as_=self._units(), materialized=True, copy=False
        )

    def _chosen_rows(self, *, are_limited: bool) -> exp.Select:
        """The rows that units keep: of those that a limit on rows may bind, or of all others."""
        terms, unlimited = self.limited.contributions, column_ref(_IS_UNLIMITED)
        columns = [UNIT, *group_names(terms), *all_term_names(terms)]
        same_unit = exp.EQ(this=column_ref(UNIT), expression=column_ref(_OWN_UNIT))
        return (
            select_of(map(column_ref, columns), table(_PLACED))
            .join(table(_UNITS), on=same_unit, copy=False)
            .where(
                is_in_window(column_ref(_CELL), self.ranks),
                exp.Not(this=unlimited) if are_limited else unlimited,
                copy=False,
            )
        )

    def _placed(self, rows: exp.Select) -> exp.Select:
        """Each row with the number of its cell."""
        terms = self.limited.contributions
        others = [column_ref(name) for name in (UNIT, *all_term_names(terms))]
        # Fewer cells than a byte has values: rows may wait in memory.
        narrow = {name: column_ref(name) for name in group_names(terms)} | {_CELL: cell(terms)}
        bytes_ = [with_alias(cast(e, "UTINYINT"), name) for name, e in narrow.items()]
        return select_from(rows, [*others, *bytes_])

    def _units(self) -> exp.Select:
        """Between which cells each unit keeps its groups, and whether its rows are few."""
        windows = cell_window(
            self.limited, table(_PLACED), column_ref(_CELL), self.groups, self.cells
        )
        unlimited = with_alias(exp.Paren(this=self._is_unlimited()), _IS_UNLIMITED)
        unit = with_alias(column_ref(UNIT), _OWN_UNIT)
        return select_from(windows, [unit, *map(column_ref, (FIRST, SPAN)), unlimited])

    def _is_unlimited(self) -> exp.Expr:
        """The unit can't have more rows in a group than count there, nor in all that it keeps."""
        limited, rows = self.limited, column_ref(ROW_COUNT)
        beyond = exp.Sub(this=rows, expression=column_ref(GROUPS))
        in_one = exp.LT(this=beyond, expression=integer(rows_per_group(limited)))
        if limited.rows is None:
            return in_one
        rows_in_groups = exp.Add(this=beyond.copy(), expression=integer(self.groups))
        in_all = exp.or_(
            exp.LTE(this=rows.copy(), expression=integer(limited.rows)),
            exp.LTE(this=rows_in_groups, expression=integer(limited.rows)),
            copy=False,
        )
        return exp.and_(in_one, in_all, copy=False)


def _are_stored(source: Plan) -> bool:
    """Whether rows are read from one table of a sidecar's file, which stays as it is."""
    plans = list(operators(source))
    return all(
        isinstance(each, Filter | Project) or (isinstance(each, Scan) and each.sidecar is not None)
        for each in plans
    )
