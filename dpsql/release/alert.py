"""ALERT: sums by group → the first conditions that hold, by the sparse vector technique.

Of the rows only integers of bounded moves are read. Neither they nor noisy ones are shown: an
answer has a row for each condition that is named, with its group, and no row if there is none.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias, assert_never

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
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.release.add_noise import RawGroups, all_totals
from dpsql.release.calibration import Measurement
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.columns.group_keys import ascending, every_key, number_of_cells, take

Thresholds: TypeAlias = AboveThreshold | ThresholdStream
"""What names conditions: of an alert that is asked once, and of one that is kept."""

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
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    checks: int | None = None,
) -> tuple[Measurement, tuple[str, ...]]:
    """The mechanism of an alert within `query_loss`, and the lines of EXPLAIN about it.

    One that is kept is checked about so often as `checks`; None: it is asked once.
    """
    mechanism, loss = above_threshold(
        comparisons(bounded) * (checks or 1),
        _alert(bounded).firings,
        threshold_moves(bounded, sensitivity),
        query_loss,
        CONFIDENCE,
    )
    thresholds = mechanism if checks is None else ThresholdStream(mechanism, checks)
    measurement = Measurement((), None, loss, table_mechanism=thresholds)
    return measurement, _notes(bounded, thresholds)


def threshold_moves(bounded: BoundedRelease, sensitivity: Sensitivity) -> ThresholdMoves:
    """How far neighbours move what an alert's conditions are short of.

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
    return ThresholdMoves(reach, span)


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


def threshold_errors(bounded: BoundedRelease, mechanism: Thresholds) -> tuple[Fraction, ...]:
    """How far off its threshold each condition may be, with 95 %, in its own unit."""
    match mechanism:
        case AboveThreshold():
            off = mechanism.error(comparisons(bounded), CONFIDENCE)
        case ThresholdStream(mechanism=above, checks=checks):
            off = above.error(comparisons(bounded) * checks, CONFIDENCE)
        case missing:
            assert_never(missing)
    statistics = bounded.contributions.statistics
    return tuple(
        off / one.weight * statistics[one.condition.index].step
        for one in scaled_conditions(bounded)
    )


def alert_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    mechanism: Thresholds,
    randomness: Randomness,
) -> pa.Table:
    """A table of the groups in which conditions are named, in order, and of their indices."""
    totals = all_totals(raw.rows, bounded, query)
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


def _notes(bounded: BoundedRelease, mechanism: Thresholds) -> tuple[str, ...]:
    """The lines of EXPLAIN about what is compared, and how far that may be off."""
    count, errors = comparisons(bounded), threshold_errors(bounded, mechanism)
    several = len(set(errors)) > 1
    off = ", ".join(f"{float(error):.6g}" for error in (errors if several else errors[:1]))
    which = ", of one condition after the other" if several else ""
    how_far = f"what is compared is off its threshold by {off} at most{which}"
    before = "named: those before don't hold, as far as noise tells"
    match mechanism:
        case AboveThreshold(firings=1):
            first = f"of {count} comparisons the first that holds is {before}"
        case AboveThreshold(firings=firings):
            first = f"of {count} comparisons the first {firings} that hold are {before}"
        case ThresholdStream(mechanism=above, checks=checks):
            return (
                f"in each check, of {count} comparisons the first that holds is {before}",
                f"checks are free, and the alert is used up once {_times(above.firings)} named one",
                f"with 95 %, in all of {checks} checks, {how_far}",
            )
        case missing:
            assert_never(missing)
    return first, f"with 95 %, {how_far}"


def _times(firings: int) -> str:
    return "one of them has" if firings == 1 else f"{firings} of them have"


def _alert(bounded: BoundedRelease) -> NamedCondition:
    alert = named_conditions(bounded)
    if alert is None:
        raise TypeError("the release is no alert")
    return alert
