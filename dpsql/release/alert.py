"""ALERT: sums by group → the first conditions that hold, by the sparse vector technique.

Of the rows only integers of bounded moves are read. Neither they nor noisy ones are shown: an
answer has a row for each condition that is named, with its group, and no row if there is none.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.analysis.unit_contribution import partial_interval
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.plan.bounded_release.estimator import AlertCondition, NamedCondition
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.allocation.threshold_rates import above_threshold
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold, ThresholdMoves
from dpsql.release.add_noise import RawGroups, all_totals
from dpsql.release.calibration import Measurement
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.columns.group_keys import ascending, every_key, number_of_cells, take

_FINER = 1024
"""Where conditions move by different integers, they are compared in parts of a step so small."""


class ScaledCondition(Struct, frozen=True):
    """A condition whose integers count `weight` times, so that all move about as far as another.

    One unit's rows in a group move it by `low` to `high`, 0 among these, weighed.
    """

    condition: AlertCondition
    weight: int
    low: int
    high: int


def named_conditions(bounded: BoundedRelease) -> NamedCondition | None:
    """The conditions that a release names; None if it isn't an alert."""
    for output in bounded.outputs:
        if isinstance(output.estimator, NamedCondition):
            return output.estimator
    return None


def calibrate_alert(
    bounded: BoundedRelease, sensitivity: Sensitivity, query_loss: PrivacyLoss
) -> tuple[Measurement, tuple[str, ...]]:
    """The mechanism of an alert within `query_loss`, and the lines of EXPLAIN about it.

    A unit that is added moves each condition by `low` to `high`, one that is removed by the same
    less, and so many of both lead from one neighbour to the other: together a condition moves up by
    no more than if all of them moved it by as much as they can in one direction. Where units are
    replaced, half of them are added, and half removed.
    """
    scaled = scaled_conditions(bounded)
    high, low = max(one.high for one in scaled), min(one.low for one in scaled)
    units = sensitivity.units
    span = units * (high - low)
    reach = span // 2 if sensitivity.is_replacement else units * max(high, -low)
    alert = _alert(bounded)
    mechanism, loss = above_threshold(
        comparisons(bounded), alert.firings, ThresholdMoves(reach, span), query_loss, CONFIDENCE
    )
    measurement = Measurement((), None, loss, table_mechanism=mechanism)
    return measurement, _notes(bounded, mechanism)


def scaled_conditions(bounded: BoundedRelease) -> tuple[ScaledCondition, ...]:
    """The conditions of an alert, weighed so that a unit moves them about as far."""
    statistics = bounded.contributions.statistics
    ends: list[tuple[int, int]] = []
    for condition in _alert(bounded).conditions:
        low, high = partial_interval(statistics[condition.index], bounded.limited)
        ends.append((low, high) if condition.sign > 0 else (-high, -low))
    widths = [max(1, high - low) for low, high in ends]
    widest = max(widths)
    parts = 1 if all(widest % width == 0 for width in widths) else _FINER
    weights = [parts * widest // width for width in widths]
    return tuple(
        ScaledCondition(condition, weight, weight * low, weight * high)
        for condition, weight, (low, high) in zip(
            _alert(bounded).conditions, weights, ends, strict=True
        )
    )


def comparisons(bounded: BoundedRelease) -> int:
    """How many conditions are tried, of all groups."""
    groups = math.prod(len(domain.cells) for domain in bounded.contributions.domains)
    return groups * len(_alert(bounded).conditions)


def threshold_errors(bounded: BoundedRelease, mechanism: AboveThreshold) -> tuple[Fraction, ...]:
    """How far off its threshold each condition may be, with 95 %, in its own unit."""
    off = mechanism.error(comparisons(bounded), CONFIDENCE)
    statistics = bounded.contributions.statistics
    return tuple(
        off / one.weight * statistics[one.condition.index].step
        for one in scaled_conditions(bounded)
    )


def alert_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    mechanism: AboveThreshold,
    randomness: Randomness,
) -> pa.Table:
    """A table of the groups in which conditions are named, in order, and of their indices."""
    totals = all_totals(raw.totals, bounded, query)
    keys = every_key(bounded, query)
    order = ascending(keys, np.arange(number_of_cells(query), dtype=np.int64))
    scaled = scaled_conditions(bounded)
    short = [
        one.weight
        * (
            one.condition.threshold
            - one.condition.sign * totals[one.condition.index][order].astype(object)
        )
        for one in scaled
    ]
    named = mechanism.named(np.stack(short, axis=1).reshape(-1), randomness)
    groups = order[named // len(scaled)]
    columns = {
        f"c{key.column.id}": take(column, groups)
        for key, column in zip(bounded.contributions.keys, keys, strict=True)
    }
    indices = (named % len(scaled)).astype(np.int32)
    columns[f"c{bounded.outputs[0].column.id}"] = pa.array(indices)
    return pa.table(columns)


def _notes(bounded: BoundedRelease, mechanism: AboveThreshold) -> tuple[str, ...]:
    """The lines of EXPLAIN about what is compared, and how far that may be off."""
    count, errors = comparisons(bounded), threshold_errors(bounded, mechanism)
    firings = mechanism.firings
    first = "the first that holds is" if firings == 1 else f"the first {firings} that hold are"
    several = len(set(errors)) > 1
    off = ", ".join(f"{float(error):.6g}" for error in (errors if several else errors[:1]))
    which = ", of one condition after the other" if several else ""
    return (
        f"of {count} comparisons {first} named: those before don't hold, as far as noise tells",
        f"with 95 %, what is compared is off its threshold by {off} at most{which}",
    )


def _alert(bounded: BoundedRelease) -> NamedCondition:
    alert = named_conditions(bounded)
    if alert is None:
        raise TypeError("the release is no alert")
    return alert
