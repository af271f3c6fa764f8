"""Statements that are declared together, composed, and charged as one.

Under approx accounting only. A zcdp ledger has no currency for an (ε, δ) that comes of composition:
as ½ε² of zCDP it would cost more than the sum of ρ that it is charged without; a pure one has no δ.

    (ε, δ) of the batch = (ε of all noise and choices at the schema's per_query.delta,
                           that δ and the δ of every threshold and of all that is taken as (ε, δ))

That thresholds' δ adds up: but for probability δ each, only groups that others are in appear, and
those are read off the noisy counts (`privacy.partition_selection`); over all of a batch that fails
with Σδ at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import Refused
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pld_composition import (
    MIN_DELTA,
    WIDEST,
    ComposedLoss,
    PureLoss,
    ShiftedNoise,
    composed_epsilon,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.compiled import CompiledRelease


@dataclass(frozen=True, slots=True)
class Batch:
    """The answers of a batch, and what all of them cost together; None if all were free.

    `one_by_one` is what they would have cost one by one. Each answer is a stored one by then.
    """

    answers: tuple[Answer, ...]
    loss: PrivacyLoss | None
    one_by_one: PrivacyLoss | None
    receipt: str | None


def check_batch(schema: Schema) -> None:
    """Refuses batches where the ledger can't express what they cost."""
    match schema.budget.accounting:
        case Accounting.APPROX:
            return
        case Accounting.PURE:
            reason = "a pure ledger has no delta, which composition needs"
        case Accounting.ZCDP:
            reason = "a zcdp ledger can't express an (epsilon, delta) that comes of composition"
    raise Refused(
        f"batches are composed under approx accounting: {reason}",
        hint="ask the statements one by one: under zcdp they cost little more",
    )


def loss_one_by_one(due: Sequence[CompiledRelease]) -> PrivacyLoss:
    """What `due` costs one by one."""
    losses = [release.step.measurement.loss for release in due]
    return sum(losses[1:], losses[0])


def composed_loss(schema: Schema, due: Sequence[CompiledRelease]) -> PrivacyLoss:
    """What `due` costs as a batch: never more ε than one by one, and never less than one alone.

    The latter because each answer is kept, and charged to later readers, at its own loss.
    """
    summed, delta = loss_one_by_one(due), schema.per_query.delta
    if delta < MIN_DELTA:
        return summed
    measured: Counter[ComposedLoss] = Counter()
    beside = Fraction(0)
    for release in due:
        found, failing = _measured(release)
        measured += found
        beside += failing
    epsilon = composed_epsilon(measured, delta)
    if epsilon >= summed.amount or delta + beside >= 1:
        return summed
    least = max(release.step.measurement.loss.amount for release in due)
    return PrivacyLoss(Accounting.APPROX, max(epsilon, least), delta + beside)


def _measured(release: CompiledRelease) -> tuple[Counter[ComposedLoss], Fraction]:
    """The measurements that `release` is made of, and the δ with which that is wrong."""
    measurement, found = release.step.measurement, release.sensitivity
    loss = measurement.loss
    gaussian = any(isinstance(m, DiscreteGaussian) for m in measurement.mechanisms)
    moves = list(zip(measurement.noise, found.per_group, strict=True))
    if (
        # Where two units differ, one may be in other groups than the other: ε bounds both.
        found.units == 1
        and (found.l2 if gaussian else found.l1).independent_bounds is not None
        and not measurement.choosers
        and not (gaussian and any(m.variance > WIDEST**2 or move > WIDEST for m, move in moves))
    ):
        coordinates = Counter[ComposedLoss]()
        for mechanism, move in moves:
            coordinates[ShiftedNoise(mechanism, move)] += found.groups
        selects = measurement.threshold is not None
        return coordinates, loss.delta if selects else Fraction(0)
    return Counter[ComposedLoss]({PureLoss(loss.amount): 1}), loss.delta
