"""The error that mechanisms are chosen by: what weighs how much in a release's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import (
    CellCount,
    ChosenValue,
    DividedSum,
    ExpertChoice,
    LinearEstimator,
    Mean,
    Moments,
    NamedCondition,
    QuantileValue,
    Variance,
    of_drawn,
)
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.privacy.mechanisms.noise.noise import Noise

_PARTITION_WEIGHTS: Final = (1.0, 1 / 4, 1 / 16, 1 / 64)
"""The weights that are tried of the count that keys are chosen by, beside a value's of 1."""


def shown_error(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    mechanisms: Sequence[Noise],
    threshold: int | None,
) -> float:
    """The values' weighted noise variance, times τ² where groups are shown from τ units on.

    Half the deviation of the values is worth as much as showing groups of half the size. Where
    nothing but keys is shown, it is τ alone: groups of τ units are shown as often by any noise.
    """
    costs: Sequence[float] = _value_weights(bounded, sensitivity)
    if threshold is not None and not any(costs):
        return float(threshold)
    if threshold is None:  # nothing is hidden by it
        costs = _weights(bounded, sensitivity, 1.0)
    variance = sum(c * float(m.variance) for c, m in zip(costs, mechanisms, strict=True))
    return variance * (threshold or 1) ** 2


def weight_choices(
    bounded: BoundedRelease, sensitivity: Sensitivity
) -> tuple[tuple[float, ...], ...]:
    """The weights that are tried of each statistic's variance, in the error that is minimised.

    Several where keys are chosen by a count of units beside values: it weighs as a value or less.
    """
    is_divided = bounded.partition_count_index is not None and bounded.min_units is None
    if not is_divided or len(sensitivity.per_group) == 1:
        return (_weights(bounded, sensitivity, 1.0),)
    return tuple(_weights(bounded, sensitivity, weight) for weight in _PARTITION_WEIGHTS)


def _weights(
    bounded: BoundedRelease, sensitivity: Sensitivity, of_partition_count: float
) -> tuple[float, ...]:
    own, costs = sensitivity.per_group, _value_weights(bounded, sensitivity)
    if bounded.min_units is not None:
        costs[bounded.min_units.count_index] += 1 / own[bounded.min_units.count_index] ** 2
    elif bounded.partition_count_index is not None:
        index = bounded.partition_count_index
        costs[index] += of_partition_count / _of_one(bounded, sensitivity, index) ** 2
    smallest = min((cost for cost in costs if cost), default=1.0)
    return tuple(cost or smallest for cost in costs)


def _of_one(bounded: BoundedRelease, sensitivity: Sensitivity, index: int) -> int:
    """What changed units move the statistic by that keys are chosen by, in each of all groups."""
    statistic = bounded.contributions.statistics[index]
    if isinstance(statistic.term, UnitWeight):
        return statistic.magnitude * sensitivity.units
    return sensitivity.per_group[index]


def _value_weights(bounded: BoundedRelease, sensitivity: Sensitivity) -> list[float]:
    """The weights of what values are computed of; 0 for what isn't shown.

    A column's scale is what one unit can change in it, so that columns count alike; a mean's error
    is at worst as if every value lay at the end of its range (dp_reference A6).
    """
    own = sensitivity.per_group
    costs = [0.0] * len(own)
    # A value and its error are one formula, and cost no more than the value.
    for formula in dict.fromkeys(output.estimator for output in bounded.outputs):
        own_formula = of_drawn(formula)
        match own_formula:
            case (
                LinearEstimator(summands=terms, cross_group=others)
                | DividedSum(estimator=LinearEstimator(summands=terms, cross_group=others))
            ):
                scale = sum(abs(factor) * own[index] for index, factor in terms) or 1
                for index, factor in terms:
                    costs[index] += (factor / scale) ** 2
                if others is not None:
                    for index, factor in others.summands:
                        costs[index] += others.groups * (factor / scale) ** 2
            case Mean(total=total, count=count):
                costs[total] += 1 / own[total] ** 2
                costs[count] += 1 / own[count] ** 2
            case QuantileValue() | ChosenValue() | CellCount() | ExpertChoice() | NamedCondition():
                pass  # chosen, not summed
            case Variance(index=index):
                costs[index] += 1 / own[index] ** 2
            case Moments():
                for index in own_formula.indices:
                    costs[index] += 1 / own[index] ** 2
            case missing:
                assert_never(missing)
    return costs
