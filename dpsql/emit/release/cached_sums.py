"""Units' sums in groups as an engine keeps them, and a release's integers from these.

| column | what it holds of a unit and a group                                 |
| ------ | ------------------------------------------------------------------- |
| u, gn  | the unit, and the group                                             |
| n, sn  | its rows there, and sums of clamped terms, before any limit         |
| gr     | the rank of the group among all of its unit's, by the salt          |
| ur     | the unit's rows in all its groups, of which no more than these count |

Each is a function of the unit's own rows and of the salt. A statement's limits are in none of them.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, narrow
from dpsql.emit.release.contributions import (
    group_names,
    grouped_names,
    join_keys,
    select_from,
)
from dpsql.emit.release.group_limit import group_rank
from dpsql.emit.release.limited_sums import limited_totals, unit_sums
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import ByRank, LimitGroups
from dpsql.plan.bounded_release.column_names import GROUP_RANK, ROW_COUNT, UNIT, UNIT_ROWS
from dpsql.plan.bounded_release.engine_query import CACHED_TABLE

_NO_DOMAINS: Final[frozenset[int]] = frozenset()
_MAX_ROWS: Final = 2**62


class RankedGroups(Struct, frozen=True):
    """The groups of each unit of `limited` by `rank`, of which it keeps so many."""

    limited: LimitGroups
    rank: exp.Expr
    groups: int

    def sums(self, sums: exp.Select, late: frozenset[int]) -> exp.Select:
        """The `sums` of `unit_group_sums` as they are kept; those in no cell are dropped."""
        terms = self.limited.contributions
        keyed = {UNIT, *grouped_names(terms, late)}
        columns = [name for name in sums.named_selects if name not in keyed]
        partials = join_keys(sums, terms, late, [UNIT, *columns])
        rows = exp.Anonymous(this="sum", expressions=[column_ref(ROW_COUNT)])
        all_rows = narrow(exp.Window(this=rows, partition_by=[column_ref(UNIT)]), 0, _MAX_ROWS)
        items = [with_alias(self.rank, GROUP_RANK), with_alias(all_rows, UNIT_ROWS)]
        return select_from(partials, [exp.Star(), *items])

    def totals(self, database: str) -> exp.Select:
        """The totals of groups, of the sums that are kept in `database`.

        Of most units no more rows are there than count. Theirs are limited but for that, since to
        add up a unit's rows again takes as long as all other limits.
        """
        limited, max_rows = self.limited, self.limited.rows
        if max_rows is None:
            return limited_totals(limited, self._stored(database), _NO_DOMAINS, are_chosen=True)
        few, many = (
            self._stored(database, kind(this=column_ref(UNIT_ROWS), expression=integer(max_rows)))
            for kind in (exp.LTE, exp.GT)
        )
        of_few = limited_totals(limited, few, _NO_DOMAINS, are_chosen=True, has_few_rows=True)
        return limited_totals(limited, many, _NO_DOMAINS, unlimited=of_few, are_chosen=True)

    def _stored(self, database: str, *conditions: exp.Expr) -> exp.Select:
        """The cached sums of units in the groups that they keep."""
        terms = self.limited.contributions
        names = [UNIT, *group_names(terms), *unit_sums(terms)]
        counts = exp.LTE(this=column_ref(GROUP_RANK), expression=integer(self.groups))
        stored = exp.table_(CACHED_TABLE, db=database, quoted=True)
        return select_of(map(column_ref, names), stored).where(counts, *conditions, copy=False)


def ranked_groups(limited: LimitGroups) -> RankedGroups | None:
    """How the groups of a unit are ranked by hash; None where they aren't, or none is left out."""
    if isinstance(limited.limit, ByRank):
        return None
    window = group_rank(limited, "row_number", group_names(limited.contributions))
    return None if window is None else RankedGroups(limited, *window)
