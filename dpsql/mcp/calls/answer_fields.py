"""Explanations and answers as the results of tools."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.dbapi.cursor import Cursor
from dpsql.mcp.json_rows import json_rows
from dpsql.mcp.tool_arguments import Query
from dpsql.mcp.tool_results import (
    Answer,
    AnswerOfBatch,
    BudgetReply,
    Explanation,
    NoiseLine,
    Paid,
    PriceLine,
    ShownColumn,
)
from dpsql.report.cost import amounts, paid
from dpsql.report.explanation.explanation import Explanation as Proof
from dpsql.session.answer.answer import Privacy
from dpsql.session.batch.batch import Batch


def explanation_fields(proof: Proof, *, allowed: bool) -> Explanation:
    """The price and the proof of a statement, which the limits say is `allowed`."""
    report, price = proof.report, proof.report.price
    return Explanation(
        None
        if price is None
        else PriceLine(price.epsilon, price.delta, price.odds, price.accounting),
        allowed,
        [
            NoiseLine(
                noise.name,
                noise.mechanism,
                noise.half_width,
                noise.rank_error,
                noise.score_error,
                noise.threshold_error,
            )
            for release in report.releases
            for noise in release.noise
        ],
        [note for release in report.releases for note in release.limits],
        list(report.advice),
        proof.text(),
    )


def answer_fields(cursor: Cursor, request: Query, budget: BudgetReply) -> Answer:
    """The rows that `request` asks for, what they cost, and what is left."""
    privacy = cursor.privacy
    columns, rows = _shown(cursor)
    return Answer(
        columns,
        json_rows(rows[request.offset : request.offset + request.max_rows]),
        len(rows),
        request.offset,
        None if privacy is None else _paid(privacy),
        budget,
        [] if privacy is None else _notes(privacy),
    )


def answer_of_batch(cursor: Cursor, max_rows: int) -> AnswerOfBatch:
    """The first `max_rows` rows of one statement of a batch."""
    privacy = cursor.privacy
    columns, rows = _shown(cursor)
    notes = [] if privacy is None else _notes(privacy)
    return AnswerOfBatch(columns, json_rows(rows[:max_rows]), len(rows), notes)


def paid_for_batch(batch: Batch) -> Paid:
    """What all statements of a batch cost."""
    if batch.loss is None:
        return Paid(0.0, 0.0, True, None, "nothing to the dataset")
    delta = batch.loss.delta
    words = amounts(batch.epsilon, delta)
    return Paid(float(batch.epsilon), float(delta), False, batch.receipt, words)


def _shown(cursor: Cursor) -> tuple[list[ShownColumn], Sequence[tuple[object, ...]]]:
    """The columns and all rows, with errors beside them."""
    with_errors = cursor.with_errors()
    rows = with_errors.fetchall()
    return [ShownColumn(column[0], column[1]) for column in with_errors.description or ()], rows


def _paid(privacy: Privacy) -> Paid:
    return Paid(
        float(privacy.epsilon),
        0.0 if privacy.loss is None else float(privacy.loss.delta),
        privacy.stored,
        privacy.receipt,
        paid(privacy),
    )


def _notes(privacy: Privacy) -> list[str]:
    threshold = min(privacy.thresholds, default=None)
    hidden = (
        []
        if threshold is None
        else [f"groups of fewer than {threshold} units (or rows), by noise, are left out"]
    )
    return [*privacy.notes, *hidden]
