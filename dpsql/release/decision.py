"""DECIDE: sums of losses by round → the expert that is chosen in each round.

Of the rows only integers of bounded moves are read, by one exact mechanism. Neither they nor noisy
ones are shown: an answer has the rounds, all of them and public, and a choice for each.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa

from dpsql.analysis.sensitivity import Sensitivity, groups_at_row_limit
from dpsql.analysis.unit_contribution import partial_interval
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.plan.bounded_release.estimator import ExpertChoice
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.allocation.learning_rate import weighted_majority
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.weighted_majority import LossMoves, WeightedMajority
from dpsql.release.add_noise import RawGroups, all_totals
from dpsql.release.calibration import Measurement
from dpsql.release.columns.group_keys import ascending, every_key, number_of_cells, take


def experts_of(bounded: BoundedRelease) -> ExpertChoice | None:
    """Whose losses a release decides by; None if it isn't a decision."""
    for output in bounded.outputs:
        if isinstance(output.estimator, ExpertChoice):
            return output.estimator
    return None


def calibrate_decision(
    bounded: BoundedRelease, sensitivity: Sensitivity, query_loss: PrivacyLoss
) -> tuple[Measurement, tuple[str, ...]]:
    """The mechanism of a decision within `query_loss`, and the lines of EXPLAIN about it.

    In a round, each expert's sum over one unit's rows lies in an interval around 0, so that two
    experts' sums come apart by no more than all intervals together span; a unit fills so many
    rounds. From one neighbour to the other that many units are added or removed, and a replaced
    one is two: it may take from one expert what it gives to another.
    """
    intervals = [partial_interval(s, bounded.limited) for s in bounded.contributions.statistics]
    span = max(high for _, high in intervals) - min(low for low, _ in intervals)
    per_round = sensitivity.units * span
    filled = groups_at_row_limit(bounded.limited, sensitivity.groups)
    moves = LossMoves(_rounds(bounded), per_round, filled * per_round)
    width = _width(bounded)
    experts = len(_experts(bounded).losses)
    mechanism, loss = weighted_majority(experts, width, moves, query_loss)
    measurement = Measurement((), None, loss, table_mechanism=mechanism)
    return measurement, _notes(bounded, mechanism)


def expected_regret(
    bounded: BoundedRelease, mechanism: WeightedMajority, rows: int = 1
) -> Fraction:
    """The bound on the expected regret of a round of at most `rows` rows, in the losses' unit."""
    width = mechanism.width * _step(bounded)
    return mechanism.regret(len(_experts(bounded).losses), rows) * width


def _notes(bounded: BoundedRelease, mechanism: WeightedMajority) -> tuple[str, ...]:
    """The lines of EXPLAIN about rounds, rate and regret, in the losses' own unit."""
    step, moves = _step(bounded), mechanism.moves
    count = len(_experts(bounded).losses)
    reach = describe_number(moves.in_all * step)
    width = mechanism.width * step
    rate = float(mechanism.learning_rate)
    regrets = [float(expected_regret(bounded, mechanism, rows)) for rows in (1, 10)]
    return (
        f"one of {count} experts is chosen in each of {moves.rounds} rounds, by those before it",
        f"neighbours move two experts' losses apart by {reach} at most, in all rounds together",
        f"learning rate {rate:.6g}, for losses from 0 to {describe_number(width)}",
        f"expected regret of a round: {regrets[0]:.6g} at most where rounds have one row",
        f"expected regret of a round: {regrets[1]:.6g} at most where they have up to ten",
    )


def decision_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    mechanism: WeightedMajority,
    randomness: Randomness,
) -> pa.Table:
    """A table of all rounds, in order, and of the index of the expert that is chosen in each."""
    totals = all_totals(raw.rows, bounded, query)
    keys = every_key(bounded, query)
    order = ascending(keys, np.arange(number_of_cells(query), dtype=np.int64))
    of_experts = _experts(bounded).losses
    losses = np.stack([totals[index][order].astype(object) for index in of_experts], axis=1)
    chosen = mechanism.choose(losses, randomness)
    named = {
        f"c{key.column.id}": take(column, order)
        for key, column in zip(bounded.contributions.keys, keys, strict=True)
    }
    named[f"c{bounded.outputs[0].column.id}"] = pa.array(chosen.astype(np.int32))
    return pa.table(named)


def _experts(bounded: BoundedRelease) -> ExpertChoice:
    experts = experts_of(bounded)
    if experts is None:
        raise TypeError("the release is no decision")
    return experts


def _step(bounded: BoundedRelease) -> Fraction:
    """The size of a step, which all losses have in common."""
    return bounded.contributions.statistics[0].step


def _rounds(bounded: BoundedRelease) -> int:
    """The number of rounds."""
    return math.prod(len(domain.cells) for domain in bounded.contributions.domains)


def _width(bounded: BoundedRelease) -> int:
    """How far apart two losses of one row can be, in steps."""
    intervals = [statistic.interval for statistic in bounded.contributions.statistics]
    return max(0, *(high for _, high in intervals)) - min(0, *(low for low, _ in intervals))
