"""The second stage, a compiled statement → its released tables: what is due is charged and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from msgspec import Struct

from dpsql.ledger.charge import Receipt
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.column_errors import Rolled
from dpsql.session.answer.stored_answer import charge_for
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.cost_cap import check_cost
from dpsql.session.interruptible import RUNNING
from dpsql.session.run.charged_draw import ChargedDraw, draw_charged
from dpsql.session.run.known_size import check_sizes
from dpsql.session.run.pending_releases import (
    PendingReleases,
    look_up,
    loss_one_by_one,
    pending_releases,
    run_releases,
    unique_releases,
)
from dpsql.session.run.uncharged_failure import telling_no_charge

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext

_MAX_ROWS_AT_ONCE = 100
"""Rows that are handed out sooner than another thread is woken."""


class ReleasedTables(Struct, frozen=True):
    """What an answer is made of: released tables, and kept ones, by their names.

    `stored` are the bytes that the ledger has of releases, by their keys; `rolled` says how
    others follow of stored ones. `loss` and `receipt` are None where nothing was charged.
    """

    tables: Mapping[str, pa.Table]
    stored: Mapping[str, bytes]
    rolled: Rolled
    loss: PrivacyLoss | None = None
    receipt: Receipt | None = None


class AnsweredBefore(Struct, frozen=True):
    """An `answer` that was given before, and the ledger has what it was made of."""

    answer: Answer


Released: TypeAlias = ReleasedTables | AnsweredBefore


def charge_and_run(context: SessionContext, sql: str, compiled: CompiledStatement) -> Released:
    """What is due of `compiled` is charged, noted as `sql`, run, and stored; the rest is read.

    Refused, before anything that is stored is looked at, if it costs more than its options allow:
    the reader's own cap may have to pay for a look.
    """
    check_may_wait()
    if not compiled.releases:
        return ReleasedTables(context.saved.rows(compiled.saved_tables, charge=True), {}, {})
    if (answered := answered_before(context, compiled)) is not None:
        return answered
    check_sizes(compiled, context.schema.per_query.largest)
    coverage = look_up(context, compiled)
    rolled, costly = coverage.free, unique_releases([coverage.unpaid])
    if costly:
        check_cost(loss_one_by_one(costly), compiled.options.price, context.schema)
    with telling_no_charge():
        pending = pending_releases(context, compiled, coverage)
    if not costly:
        return ReleasedTables(pending.tables, pending.stored, rolled)
    loss = loss_one_by_one(costly)
    drawn = draw(context, sql, [pending], loss)
    context.sources.add(compiled, pending.due)
    (tables,) = drawn.tables
    return ReleasedTables(tables, {**pending.stored, **drawn.stored}, rolled, loss, drawn.receipt)


def answered_before(context: SessionContext, compiled: CompiledStatement) -> AnsweredBefore | None:
    """The answer that was given to `compiled` before, if it is remembered: nothing has to run."""
    answer = context.answers.answer(compiled, context.ledger.read) if compiled.releases else None
    if answer is None:
        return None
    remember_releases(context, compiled)  # another session may have been given it first
    if answer.table.num_rows > _MAX_ROWS_AT_ONCE:
        check_may_wait()
    return AnsweredBefore(answer)


def remember_releases(context: SessionContext, compiled: CompiledStatement) -> None:
    """The session was given the stored releases of `compiled`, and may sum others from them."""
    stored = (r for r in compiled.releases if r.step.measurement.loss.amount)
    context.sources.add(compiled, stored)


def draw(
    context: SessionContext, sql: str, parts: Sequence[PendingReleases], loss: PrivacyLoss
) -> ChargedDraw:
    """The tables of all `parts`, charged with `loss` in one entry; a failure burns the charge."""
    ledger, version = context.ledger, context.execution.version()
    due = unique_releases(part.due for part in parts)
    context.execution.check_files(due)
    charge = charge_for(context.schema, context.analyst, sql, due, version, loss, ledger.cap)
    context.progress(RUNNING)
    context.execution.expect(due)
    return draw_charged(
        ledger.open(),
        charge,
        parts,
        lambda one, read: run_releases(context, [one], read)[one.name],
        context.execution.charged,
    )
