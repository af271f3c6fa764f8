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
from typing import TYPE_CHECKING, assert_never

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
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise, JointNoise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.cost_cap import check_cost
from dpsql.session.compile.loss_conversion import query_delta
from dpsql.session.run.charge_and_run import draw
from dpsql.session.run.pending_releases import (
    loss_one_by_one,
    pending_releases,
    unique_releases,
    unpaid,
)

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


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
        case Accounting.GDP:
            reason = "a gdp ledger can't express an (epsilon, delta) that comes of composition"
        case missing:
            assert_never(missing)
    raise Refused(
        f"batches are composed under approx accounting: {reason}",
        hint="ask the statements one by one: under zcdp and gdp they cost little more",
    )


@dataclass(frozen=True, slots=True)
class BatchCharge:
    """What a batch was charged, and what it would have cost one by one; None if all was free."""

    loss: PrivacyLoss | None = None
    one_by_one: PrivacyLoss | None = None
    receipt: str | None = None


def charge_batch(
    context: SessionContext, sql: str, statements: Sequence[CompiledStatement]
) -> BatchCharge:
    """All that is due of `statements`, charged in one entry, run, and stored."""
    schema, ledger = context.schema, context.ledger.open()
    costly = unique_releases(unpaid(compiled, ledger) for compiled in statements)
    if costly:
        check_cost(composed_loss(schema, costly), statements[0].options.price, schema)
    parts = [pending_releases(context, one, {}) for one in statements if one.releases]
    due = unique_releases(part.due for part in parts)
    if not due:
        return BatchCharge()
    loss = composed_loss(schema, due)
    receipt = draw(context, sql, parts, loss).receipt
    return BatchCharge(loss, loss_one_by_one(due), str(receipt.receipt_id))


def composed_loss(schema: Schema, due: Sequence[CompiledRelease]) -> PrivacyLoss:
    """What `due` costs as a batch: never more ε than one by one, and never less than one alone.

    The latter because each answer is kept, and charged to later readers, at its own loss.
    """
    summed = loss_one_by_one(due)
    delta = query_delta(schema, summed.amount)
    if delta < MIN_DELTA:
        return summed
    measured: Counter[ComposedLoss] = Counter()
    added_delta = Fraction(0)
    for release in due:
        losses, failing = _measured(release)
        measured += losses
        added_delta += failing
    epsilon = composed_epsilon(measured, delta)
    if epsilon >= summed.amount or delta + added_delta >= 1:
        return summed
    largest = max(release.step.measurement.loss.amount for release in due)
    return PrivacyLoss(Accounting.APPROX, max(epsilon, largest), delta + added_delta)


def _measured(release: CompiledRelease) -> tuple[Counter[ComposedLoss], Fraction]:
    """The measurements that `release` is made of, and the δ with which that is wrong."""
    measurement, changes = release.step.measurement, release.sensitivity
    loss = measurement.loss
    gaussian = any(isinstance(m, DiscreteGaussian) for m in measurement.mechanisms)
    if measurement.table_mechanism is not None:
        # It isn't made of the mechanisms of single statistics.
        return Counter[ComposedLoss]({PureLoss(loss.amount): 1}), loss.delta
    moves: list[tuple[IndependentNoise, int]] = []
    for mechanism, move in zip(measurement.noise, changes.per_group, strict=True):
        if isinstance(mechanism, JointNoise | RoundedNoise):
            # All its integers move together; or, of parts, in all groups, and in none as in few.
            return Counter[ComposedLoss]({PureLoss(loss.amount): 1}), loss.delta
        moves.append((mechanism, move))
    if (
        # Where two units differ, one may be in other groups than the other: ε bounds both.
        changes.units == 1
        and (changes.l2 if gaussian else changes.l1).independent_bounds is not None
        and not measurement.choosers
        and not (gaussian and any(m.variance > WIDEST**2 or move > WIDEST for m, move in moves))
    ):
        coordinates = Counter[ComposedLoss]()
        for mechanism, move in moves:
            coordinates[ShiftedNoise(mechanism, move)] += changes.groups
        selects = measurement.threshold is not None
        return coordinates, loss.delta if selects else Fraction(0)
    return Counter[ComposedLoss]({PureLoss(loss.amount): 1}), loss.delta
