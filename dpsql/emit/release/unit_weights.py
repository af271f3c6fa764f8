"""What a unit weighs in each of its kept groups, by how many they are.

| level   | one row per     | columns                                           |
| ------- | --------------- | ------------------------------------------------- |
| kept    | unit and group  | sums, in no more groups than the limit             |
| weighed | the same        | the unit's weight, in place of a sum               |

Groups are counted after the limit has left out some, and a weight is found in a list of public
integers by comparisons alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, with_unit_total
from dpsql.emit.dialect.unit_total import UNIT_TOTAL
from dpsql.emit.release.contribution import number_of_rows
from dpsql.emit.sql.identifier import column_ref, with_alias
from dpsql.plan.bounded_release.column_names import total_name
from dpsql.plan.bounded_release.statistic import Statistic
from dpsql.plan.bounded_release.unit_weight import UnitWeight


def with_weights(
    groups: exp.Query, carried: Sequence[exp.Expr], statistics: Sequence[Statistic]
) -> exp.Query:
    """`groups` of units, with `carried` columns, their sums and their weights."""
    sums = [
        with_alias(_weight(s.term), total_name(number))
        if isinstance(s.term, UnitWeight)
        else column_ref(total_name(number))
        for number, s in enumerate(statistics)
    ]
    return with_unit_total(groups, [*carried, *sums], number_of_rows(), 0)


def _weight(term: UnitWeight) -> exp.Expr:
    """The weight of a unit that has so many groups; a unit in more than may be weighs nothing."""
    weight: exp.Expr = exp.case()
    for groups, each in term.weights:
        are_few = exp.LTE(this=column_ref(UNIT_TOTAL), expression=integer(groups))
        weight = weight.when(are_few, integer(each), copy=False)  # type: ignore[attr-defined]
    return weight.else_(integer(0), copy=False)  # type: ignore[attr-defined,no-any-return]
