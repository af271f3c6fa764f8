"""What one unit contributes to a statistic in one group, at most: its rows times what each adds.

Of a sum with a cap it is no more than the cap, to which the emitted SQL clamps each unit's sum.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.plan.bounded_release.bounded_release import Limited, LimitGroups, OneRowPerUnit
from dpsql.plan.bounded_release.statistic import (
    BoundedMean,
    CappedSum,
    DistinctSum,
    DistinctValues,
    NonNullCount,
    PairwiseDeviations,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.bounded_release.unit_weight import UnitWeight


def partial_bound(statistic: Statistic, limited: Limited) -> int:
    """The largest absolute change of `statistic` in one group by one unit's rows."""
    match statistic.term:
        case UnitCount() | UnitsOverLimit():
            return 1  # a unit is there, with too many rows, or it isn't
        case UnitWeight(largest=largest):
            return largest  # of a unit in its only group
        case DistinctValues(limit=max_values):
            return values_per_group(max_values, limited)
        case DistinctSum(limit=max_values):
            return values_per_group(max_values, limited) * statistic.magnitude
        case CappedSum(cap=cap):
            return min(cap, _summed_rows(limited) * statistic.magnitude)
        case (
            RowCount()
            | NonNullCount()
            | Sum()
            | Square()
            | Product()
            | PairwiseDeviations()
            | BoundedMean()
        ):
            return rows_per_group(limited) * statistic.magnitude
        case missing:
            assert_never(missing)


def values_per_group(limit: int | None, limited: Limited) -> int:
    """The largest number of distinct values that one unit brings to a group, shared or not."""
    rows = rows_per_group(limited)
    return rows if limit is None else min(rows, limit)


def partial_interval(statistic: Statistic, limited: Limited) -> tuple[int, int]:
    """The interval of one unit's sum in a group; it contains 0, as the unit may be missing."""
    bound = partial_bound(statistic, limited)
    if isinstance(statistic.term, UnitCount | UnitWeight | UnitsOverLimit):
        return 0, bound
    if isinstance(statistic.term, CappedSum):
        rows = rows_per_group(limited)
        low, high = (rows * end for end in statistic.interval)
        return max(-bound, min(0, low)), min(bound, max(0, high))
    # Of values no more than of rows: each is one row's at least.
    rows, (low, high) = bound // statistic.magnitude, statistic.interval
    return max(-bound, min(0, rows * low)), min(bound, max(0, rows * high))


def rows_of_norm(statistic: Statistic, limited: Limited) -> int:
    """How many rows' worth a unit adds to each of its groups, or would with the norm that it has.

    What a sum with a cap comes to isn't a number of rows times a row: 25 of rows up to 10. A unit
    in d of its g groups weighs w in each, where d·w² <= g·r²: in L2 norm as if it weighed r in all
    g of them; and in L1 norm no more, since d·w <= √(d·g)·r <= g·r.
    """
    if isinstance(statistic.term, UnitWeight):
        return 1
    bound = partial_bound(statistic, limited)
    return bound if isinstance(statistic.term, CappedSum) else bound // statistic.magnitude


def norm_interval(statistic: Statistic, limited: Limited) -> tuple[int, int]:
    """The interval of one unit's sum in as many groups as it fills with the norm that it has.

    Weights are nowhere negative, so that of two units' w and v (w - v)² <= w² + v².
    """
    if isinstance(statistic.term, UnitWeight):
        return statistic.interval
    return partial_interval(statistic, limited)


def _summed_rows(limited: Limited) -> int:
    """The number of rows whose sum a cap is enforced of; ValueError where none is summed."""
    match limited:
        case LimitGroups():
            return rows_per_group(limited)
        case OneRowPerUnit():
            raise ValueError("rows that are summed as they are have no sum to be capped")
        case missing:
            assert_never(missing)


def rows_per_group(limited: Limited) -> int:
    """The number of rows that a unit counts for in one group, at most."""
    match limited:
        case LimitGroups(source=clamped):
            return clamped.rows_per_group
        case OneRowPerUnit():
            return 1
        case missing:
            assert_never(missing)
