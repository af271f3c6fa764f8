"""A finished table becomes an answer, with what it cost and how noisy it is."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pyarrow as pa

from dpsql.ledger.charge import Receipt
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer, Privacy
from dpsql.session.answer.column_errors import answer_columns, column_privacy, half_widths
from dpsql.session.answer.rollup import RollUp
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.loss_conversion import epsilon_of

Paid = tuple[PrivacyLoss, Receipt] | None


def build_answer(
    prepared: CompiledStatement,
    schema: Schema,
    table: pa.Table,
    paid: Paid,
    rolled: Mapping[str, RollUp],
) -> Answer:
    """The answer of `prepared` whose rows are `table`, its columns named by their ids.

    `paid` is None where nothing was charged; `rolled` are the releases summed from stored ones.
    """
    columns = prepared.statement.columns
    ordered = table.select([f"c{c.id}" for c in columns])
    loss, receipt = (None, None) if paid is None else paid
    made = answer_columns(prepared, rolled)
    privacy = Privacy(
        loss,
        epsilon_of(schema, loss.amount if loss else Fraction(0)),
        column_privacy(prepared, rolled),
        tuple(
            r.step.measurement.threshold
            for r in prepared.releases
            if r.step.measurement.threshold is not None
        ),
        bool(prepared.releases) and paid is None,
        None if receipt is None else str(receipt.receipt_id),
        made,
        max((way.cells for way in rolled.values()), default=0),
        prepared.consistency.without(rolled).notes,
    )
    made_of = (rolled[r.name].source if r.name in rolled else r for r in prepared.releases)
    keys = tuple(dict.fromkeys(r.key for r in made_of if r.step.measurement.loss.amount))
    # Names may repeat; only the plan's columns are told apart, so they go beside the table.
    types = tuple(c.type for c in columns)
    widths = half_widths(prepared, made, table, rolled)
    return Answer(ordered, prepared.statement.names, types, privacy, widths, keys)
