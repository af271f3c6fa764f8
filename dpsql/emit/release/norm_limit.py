"""A unit's sums in all its groups, scaled together to a norm: they become numbers of parts.

| level   | one row per     | columns                                                      |
| ------- | --------------- | ------------------------------------------------------------ |
| groups  | unit and group  | sums, and how many rows count                                 |
| weighed | the same        | how many parts of an integer its unit's sums count for         |
| scaled  | the same        | sums times as many parts                                       |

Rows that count, or their squares, are summed over the unit's groups. What its sums are multiplied
by is found in a list of public integers by comparisons alone, so that no root is rounded in it, and
all engines find the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.analysis.unit_contribution import partial_interval, rows_per_group
from dpsql.emit.dialect.nodes import integer, narrow, wide, with_unit_total
from dpsql.emit.dialect.unit_total import UNIT_TOTAL
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.release.contributions import select_from
from dpsql.emit.release.total_row_limit import weight_of
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.bounded_release import ByNorm, LimitGroups
from dpsql.plan.bounded_release.column_names import PART_COUNT, total_name
from dpsql.plan.bounded_release.statistic import Statistic


def scaled_to_norm(
    groups: exp.Query, names: Sequence[str], limited: LimitGroups, limit: ByNorm
) -> exp.Select:
    """The groups, `names`, and sums of `groups`, in parts: of a unit in too many, fewer of them."""
    statistics = limited.contributions.statistics
    row_limit = rows_per_group(limited)
    own = [column_ref(name) for name in names]
    totals = [column_ref(total_name(number)) for number in range(len(statistics))]
    rows = column_ref(weight_of(statistics))
    power: exp.Expr = rows
    if limit.order == 2:
        power = exp.Mul(this=wide(rows), expression=wide(rows.copy()))
    parts = with_alias(_part_count(limit, row_limit), PART_COUNT)
    full = limit.groups * row_limit**limit.order
    weighed = with_unit_total(groups, [*own, *totals, parts], sum_of(power), full)
    scaled = []
    for number, statistic in enumerate(statistics):
        low, high = (end * limit.parts for end in partial_interval(statistic, limited))
        product = narrow(_times(number, column_ref(PART_COUNT)), low, high)
        scaled.append(with_alias(product, total_name(number)))
    return select_from(weighed, [*own, *scaled])


def whole_in_parts(statistics: Sequence[Statistic], limit: ByNorm) -> list[exp.Expr]:
    """Sums of units all of whose parts count, as numbers of parts."""
    numbers = range(len(statistics))
    return [
        with_alias(_times(number, integer(limit.parts)), total_name(number)) for number in numbers
    ]


def _times(number: int, parts: exp.Expr) -> exp.Expr:
    return exp.Mul(this=wide(column_ref(total_name(number))), expression=parts)


def _part_count(limit: ByNorm, rows: int) -> exp.Expr:
    """How many parts count of each integer of a unit, of which `rows` count in a group at most.

    Its rows, or their squares, add up to m, NULL where that is no more than limits allow; where it
    is more than all cells can have, nothing counts.
    """
    total = column_ref(UNIT_TOTAL)
    is_whole = exp.Is(this=total, expression=exp.null())
    parts = exp.case().when(is_whole, integer(limit.parts), copy=False)
    for powers, weight in limit.weights(rows):
        are_few = exp.LTE(this=total.copy(), expression=integer(powers))
        parts = parts.when(are_few, integer(weight), copy=False)
    return parts.else_(integer(0), copy=False)
