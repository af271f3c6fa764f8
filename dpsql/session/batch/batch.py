"""Statements that are declared together, and charged as one.

Under zcdp and gdp they cost what they cost one by one, which is a sum there, and those that count
and sum the same rows are planned as one (`session.batch.family`). Such a ledger has no currency for
an (ε, δ) that comes of composition: as ½ε² of zCDP it would cost more than the sum of ρ. A pure one
has no δ, and no Gaussian noise. Under approx losses are composed:

    (ε, δ) of the batch = (ε of all noise and choices at the schema's per_query.delta,
                           that δ and the δ of every threshold and of all that is taken as (ε, δ))

That thresholds' δ adds up: but for probability δ each, only groups that others are in appear, and
those are read off the noisy counts (`privacy.partition_selection`); over all of a batch that fails
with Σδ at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from dpsql.bind.statement import NO_PARAMETERS
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
from dpsql.session.answer.answer_construction import build_answer
from dpsql.session.batch.family import Compile, Family, due_families
from dpsql.session.batch.statement_number import of_statement
from dpsql.session.compile.compile import compile_statement
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.cost_cap import check_batch_cost
from dpsql.session.compile.loss_conversion import epsilon_or_zero, query_delta
from dpsql.session.compile.request import ANSWER, Request
from dpsql.session.options import QueryOptions
from dpsql.session.run.charge_and_run import charge_and_run, draw
from dpsql.session.run.known_size import check_sizes
from dpsql.session.run.pending_releases import (
    look_up,
    loss_one_by_one,
    pending_releases,
    unique_releases,
)

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


class Batch(Struct, frozen=True):
    """The answers of a batch, and what all of them cost together; None if all were free.

    `one_by_one` is what they would have cost one by one. Each answer is a stored one by then.
    `epsilon` and `epsilon_one_by_one` are both for people, `notes` tell what was planned as one.
    """

    answers: tuple[Answer, ...]
    loss: PrivacyLoss | None
    one_by_one: PrivacyLoss | None
    receipt: str | None
    epsilon: Fraction
    epsilon_one_by_one: Fraction
    notes: tuple[str, ...]


def answer_batch(
    context: SessionContext, statements: Sequence[str], options: QueryOptions
) -> Batch:
    """All of `statements`, charged in one entry before any runs, or refused."""
    sql = ";\n".join(statements)
    with context.ledger.recording_refusals(sql):
        check_batch(context.schema)

        def compiled(one: str, request: Request) -> CompiledStatement:
            return compile_statement(context, one, options, NO_PARAMETERS, request)

        parts = compiled_parts(statements, compiled)
        planned = due_families(context, statements, parts, compiled).planned
        charge = charge_batch(context, sql, parts, planned)
        # All are stored by now.
        answers = (build_answer(context, one, charge_and_run(context, "", one)) for one in parts)
        return Batch(
            tuple(answers),
            charge.loss,
            charge.one_by_one,
            charge.receipt,
            epsilon_or_zero(context.schema, charge.loss),
            epsilon_or_zero(context.schema, charge.one_by_one),
            tuple(family.note for family in planned),
        )


def compiled_parts(statements: Sequence[str], compiled: Compile) -> list[CompiledStatement]:
    """Each of them by `compiled`; an error says which of them it is of."""
    parts = []
    for number, one in enumerate(statements, 1):
        with of_statement(number):
            parts.append(compiled(one, ANSWER))
    return parts


def rest(statements: Sequence[CompiledStatement], planned: Sequence[Family]) -> list[int]:
    """The indices of the statements that aren't planned as one with others."""
    members = {index for family in planned for index in family.members}
    return [index for index in range(len(statements)) if index not in members]


def summed_loss(due: Sequence[CompiledRelease]) -> PrivacyLoss | None:
    """What `due` costs one by one; None if there is nothing due."""
    return loss_one_by_one(due) if due else None


def check_batch(schema: Schema) -> None:
    """Refuses batches where nothing is gained by them."""
    match schema.budget.accounting:
        case Accounting.APPROX | Accounting.ZCDP | Accounting.GDP:
            return
        case Accounting.PURE:
            raise Refused(
                "a pure ledger has no delta, which batches need to cost less or to be less noisy",
                hint="ask the statements one by one",
            )
        case missing:
            assert_never(missing)


class BatchCharge(Struct, frozen=True):
    """What a batch was charged, and what it would have cost one by one; None if all was free."""

    loss: PrivacyLoss | None = None
    one_by_one: PrivacyLoss | None = None
    receipt: str | None = None


def charge_batch(
    context: SessionContext,
    sql: str,
    statements: Sequence[CompiledStatement],
    planned: Sequence[Family],
) -> BatchCharge:
    """All that is due of `statements`, charged in one entry, run, and stored.

    Of those that are `planned` as one, the dashboards that they are read of are due instead.
    """
    schema = context.schema
    questions = [statements[index] for index in rest(statements, planned)]
    questions += [family.compiled for family in planned]
    for one in questions:
        check_sizes(one, schema.per_query.largest)
    coverages = [look_up(context, one) for one in questions]
    if costly := unique_releases(one.unpaid for one in coverages):
        each = [look_up(context, one).unpaid for one in statements]
        alone = [summed_loss(unique_releases([one])) for one in each]
        price = statements[0].options.price
        check_batch_cost(composed_loss(schema, costly), alone, price, schema)
    for index in (index for family in planned for index in family.members):
        # What stands above what it is read of is tried before anything is charged.
        context.execution.check(statements[index])
    pairs = zip(questions, coverages, strict=True)
    parts = [pending_releases(context, one, its) for one, its in pairs if one.releases]
    due = unique_releases(part.due for part in parts)
    receipt = draw(context, sql, parts, composed_loss(schema, due)).receipt if due else None
    context.remember([family.dashboard for family in planned])
    if receipt is None:
        return BatchCharge()
    planned_as = {family.compiled.releases[0].key: family for family in planned}
    singly = unique_releases(_alone(one, planned_as.get(one.key), statements) for one in due)
    return BatchCharge(composed_loss(schema, due), loss_one_by_one(singly), str(receipt.receipt_id))


def _alone(
    release: CompiledRelease, family: Family | None, statements: Sequence[CompiledStatement]
) -> Sequence[CompiledRelease]:
    """What would be due in the place of `release`, if nothing was planned as one."""
    if family is None:
        return (release,)
    return [one for index in family.members for one in statements[index].releases]


def composed_loss(schema: Schema, due: Sequence[CompiledRelease]) -> PrivacyLoss:
    """What `due` costs as a batch: never more ε than one by one, and never less than one alone.

    The latter because each answer is kept, and charged to later readers, at its own loss.
    """
    summed = loss_one_by_one(due)
    if summed.accounting is not Accounting.APPROX:
        return summed
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
