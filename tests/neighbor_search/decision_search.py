"""What a decision tells apart: the sums of losses that its choices are drawn by, on two databases.

A round's choice may move by what was derived for it and no further, not at all where no earlier
round differs; and all choices together may tell no more than was charged. Both hold for exact laws:
two probabilities of one expert differ by no more than e^(rate·m), m being how far two experts' sums
came apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import Groups
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_range
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority, sums_before
from dpsql.release.add_noise import RawGroups
from dpsql.release.decision import decision_table
from dpsql.session.compile.compiled_release import CompiledRelease


class _Recorder:
    """In a mechanism's place: keeps the losses that it is handed."""

    def __init__(self) -> None:
        self.losses = np.zeros((0, 0), dtype=object)

    def choose(self, losses: NDArray[np.object_], randomness: object) -> NDArray[np.int64]:
        del randomness
        self.losses = losses
        return np.zeros(len(losses), dtype=np.int64)


def told_apart(one: Groups, other: Groups, release: CompiledRelease) -> Iterator[str]:
    """Every way in which a decision shows more of two neighbours than it costs."""
    mechanism = release.step.measurement.table_mechanism
    assert isinstance(mechanism, WeightedMajority)
    losses, others = _losses(one, release), _losses(other, release)
    assert losses.shape == others.shape
    assert len(losses) == mechanism.moves.rounds
    moves = [
        max(moved) - min(moved)
        for moved in (sums_before(others).astype(object) - sums_before(losses)).tolist()
    ]
    for number, moved in enumerate(moves):
        if moved and (losses[:number] == others[:number]).all():
            yield f"statistic 0 of a decision by its own round, {number}"
        if moved > mechanism.moves.before(number):
            yield f"statistic 0 of a decision by {moved}, derived {mechanism.moves.before(number)}"
    loss = release.step.measurement.loss
    apart = [mechanism.rate * moved for moved in moves]
    if loss.accounting is Accounting.ZCDP:
        spent, paid = sum((x**2 / 8 for x in apart), Fraction(0)), loss.amount
    elif loss.accounting is Accounting.GDP:
        spent, paid = sum(map(mu_squared_of_range, apart), Fraction(0)), loss.amount
    elif loss.delta:
        spent = sum((x**2 / 8 for x in apart), Fraction(0))
        paid = rho_of_epsilon(loss.amount, loss.delta) * (1 + Fraction(1, 10**8))
    else:
        spent, paid = sum(apart, Fraction(0)), loss.amount
    if spent > paid:
        yield f"statistic 0 of a decision by {float(spent)}, paid {float(paid)}"


def _losses(groups: Groups, release: CompiledRelease) -> NDArray[np.object_]:
    """The losses by round that the mechanism is handed."""
    step, keys = release.step, list(groups)
    columns = {
        f"g{n}": pa.array([key[n] for key in keys], pa.int64())
        for n in range(len(step.query.domains))
    }
    for index in range(len(step.bounded.contributions.statistics)):
        columns[f"s{index}"] = pa.array([groups[key][index] for key in keys], pa.int64())
    raw, recorder = RawGroups(pa.table(columns)), _Recorder()
    nothing = SeededRandomness("recorded")
    decision_table(raw, step.bounded, step.query, cast("Any", recorder), nothing)
    return recorder.losses
