"""The proof and the price of a batch, free, as if none of it was answered before."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from dpsql.bind.statement import NO_PARAMETERS
from dpsql.schema.model import Schema
from dpsql.session.batch.batch import (
    check_batch,
    compiled_parts,
    composed_loss,
    rest,
    summed_loss,
)
from dpsql.session.batch.family import Families, families
from dpsql.session.compile.compile import compile_for_look
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import conversion_delta, epsilon_or_zero
from dpsql.session.compile.request import Request
from dpsql.session.explain.explain import explain
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.options import QueryOptions
from dpsql.session.run.pending_releases import unique_releases
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


def explain_batch(
    context: SessionContext, statements: Sequence[str], options: QueryOptions
) -> tuple[PrivacyReport, ...]:
    """The proof and the price of a batch, free: of what is planned as one, then of the rest."""
    parts, joint = _looked_at(context, statements, options)
    reports: list[PrivacyReport] = []

    def add(one: CompiledStatement, notes: tuple[str, ...]) -> None:
        report = explain(one, context.schema)
        reports.append(replace(report, notes=(*notes, *report.notes)))

    for family in joint.planned:
        add(family.compiled, (family.note,))
    for index in rest(parts, joint.planned):
        add(parts[index], joint.notes(index))
    return tuple(reports)


class BatchPrice(Struct, frozen=True):
    """What a batch costs in ε, as if none of it was answered before; 0 if nothing private is read.

    With `delta` it is what all of them are, asked together and nothing else. `one_by_one` is of
    all statements one by one, and `alone` of each.
    """

    epsilon: Fraction
    delta: Fraction
    one_by_one: Fraction
    alone: tuple[Fraction, ...]


def price_batch(
    context: SessionContext, statements: Sequence[str], options: QueryOptions
) -> BatchPrice:
    """The price of a batch, free."""
    schema = context.schema
    parts, joint = _looked_at(context, statements, options)
    questions = [parts[index] for index in rest(parts, joint.planned)]
    questions += [family.compiled for family in joint.planned]
    due = unique_releases(map(_noisy, questions))
    loss = composed_loss(schema, due) if due else None
    return BatchPrice(
        epsilon_or_zero(schema, loss),
        Fraction(0) if loss is None else conversion_delta(schema.budget) + loss.delta,
        _one_by_one(schema, parts),
        tuple(_one_by_one(schema, [one]) for one in parts),
    )


def _looked_at(
    context: SessionContext, statements: Sequence[str], options: QueryOptions
) -> tuple[list[CompiledStatement], Families]:
    """The statements, and what of them would be planned as one, if none was answered before."""
    context.check_open()
    check_batch(context.schema)

    def compiled(one: str, request: Request) -> CompiledStatement:
        return compile_for_look(context, one, options, NO_PARAMETERS, request)

    parts = compiled_parts(statements, compiled)
    return parts, families(context, statements, parts, compiled)


def _one_by_one(schema: Schema, statements: Sequence[CompiledStatement]) -> Fraction:
    return epsilon_or_zero(schema, summed_loss(unique_releases(map(_noisy, statements))))


def _noisy(statement: CompiledStatement) -> list[CompiledRelease]:
    return [one for one in statement.releases if one.step.measurement.loss.amount]
