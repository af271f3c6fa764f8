"""The error that mechanisms are chosen by: what weighs how much in a release's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import (
    ChosenValue,
    LinearEstimator,
    Mean,
    Moments,
    QuantileValue,
    Variance,
)
from dpsql.privacy.mechanisms.noise.noise import Noise


def shown_error(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    mechanisms: Sequence[Noise],
    threshold: int | None,
) -> float:
    """The values' weighted noise variance, times τ² where groups are shown from τ units on.

    Half the deviation of the values is worth as much as showing groups of half the size.
    """
    costs: Sequence[float] = _value_weights(bounded, sensitivity)
    if not any(costs):  # nothing but keys
        costs = statistic_weights(bounded, sensitivity)
    variance = sum(c * float(m.variance) for c, m in zip(costs, mechanisms, strict=True))
    return variance * (threshold or 1) ** 2


def statistic_weights(
    bounded: BoundedRelease, sensitivity: Sensitivity, of_partition_count: float = 1.0
) -> tuple[float, ...]:
    """The weight of each statistic's variance in the error that noise allocation minimises.

    The count of units that keys are chosen by is given `of_partition_count`, relative to a value's.
    """
    own, costs = sensitivity.per_group, _value_weights(bounded, sensitivity)
    if bounded.min_units is not None:
        costs[bounded.min_units.count_index] += 1 / own[bounded.min_units.count_index] ** 2
    elif bounded.partition_count_index is not None:
        index = bounded.partition_count_index
        costs[index] += of_partition_count / own[index] ** 2
    smallest = min((cost for cost in costs if cost), default=1.0)
    return tuple(cost or smallest for cost in costs)


def _value_weights(bounded: BoundedRelease, sensitivity: Sensitivity) -> list[float]:
    """The weights of what values are computed of; 0 for what isn't shown.

    A column's scale is what one unit can change in it, so that columns count alike; a mean's error
    is at worst as if every value lay at the end of its range (dp_reference A6).
    """
    own = sensitivity.per_group
    costs = [0.0] * len(own)
    # A value and its error are one formula, and cost no more than the value.
    for formula in dict.fromkeys(output.estimator for output in bounded.outputs):
        match formula:
            case LinearEstimator(summands=terms, cross_group=others):
                scale = sum(abs(factor) * own[index] for index, factor in terms) or 1
                for index, factor in terms:
                    costs[index] += (factor / scale) ** 2
                if others is not None:
                    for index, factor in others.summands:
                        costs[index] += others.groups * (factor / scale) ** 2
            case Mean(total=total, count=count):
                costs[total] += 1 / own[total] ** 2
                costs[count] += 1 / own[count] ** 2
            case QuantileValue() | ChosenValue():
                pass  # chosen, not summed
            case Variance(index=index):
                costs[index] += 1 / own[index] ** 2
            case Moments():
                for index in formula.indices:
                    costs[index] += 1 / own[index] ** 2
            case missing:
                assert_never(missing)
    return costs
