"""The table that CALIBRATE answers with: the counts of all parts, one below the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction

import pyarrow as pa

from dpsql.release.columns.arrow import arrow_type
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer, AnswerDetails, ColumnErrors
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.ladders.stored_ladders import COLUMNS, LadderForm
from dpsql.structs import replace


def joined_answer(
    schema: Schema, parts: Mapping[str, Answer], forms: Mapping[str, LadderForm]
) -> Answer:
    """One answer of all counts, by their part, and of what they cost together."""
    rows = [row for part, answer in parts.items() for row in _rows(part, answer, forms.get(part))]
    names = list(COLUMNS)
    table = pa.table(
        {name: [row[n] for row in rows] for n, name in enumerate(names)},
        schema=pa.schema([(name, arrow_type(kind)) for name, kind in COLUMNS.items()]),
    )
    errors = pa.array([row[len(names)] for row in rows], pa.float64())
    answers = list(parts.values())
    losses = [answer.privacy.loss for answer in answers if answer.privacy.loss is not None]
    loss = sum(losses[1:], losses[0]) if losses else None
    last = answers[-1]
    spent = Fraction(0) if loss is None else loss.amount
    receipts = [a.privacy.receipt for a in answers if a.privacy.receipt is not None]
    (*_, counted) = last.privacy.shown_columns
    privacy = replace(
        last.privacy,
        loss=loss,
        epsilon=epsilon_of(schema, spent),
        columns=tuple(column for answer in answers for column in answer.privacy.columns),
        thresholds=tuple(t for answer in answers for t in answer.privacy.thresholds),
        stored=not receipts,
        receipt=receipts[-1] if receipts else None,
        shown_columns=(None, None, None, counted),
        notes=(),
    )
    keys = tuple(dict.fromkeys(key for answer in answers for key in answer.keys))
    types, unknown = tuple(COLUMNS.values()), (None, None, None)
    details = AnswerDetails(privacy, lambda: privacy)
    widths = ColumnErrors((*unknown, errors))
    return Answer(table, tuple(names), types, lambda: details, lambda: widths, keys)


def _rows(
    part: str, answer: Answer, form: LadderForm | None
) -> Iterator[tuple[str, float | None, str | None, int, float | None]]:
    """The rows of one part: a rung, or the values of a group's keys, with its count and error."""
    *keys, counts = (column.to_pylist() for column in answer.table.columns)
    *_, widths = answer.half_widths
    errors = widths.to_pylist() if isinstance(widths, pa.Array) else [widths] * len(counts)
    cells = list(zip(*keys, strict=True)) if keys else [()] * len(counts)
    if form is None:
        for cell, count, error in zip(cells, counts, errors, strict=True):
            yield part, None, json.dumps(cell, default=str) if cell else None, count, error
        return
    known = {
        rung: (count, error) for (rung,), count, error in zip(cells, counts, errors, strict=True)
    }
    for rung, end in enumerate(form.rungs.ends):
        count, error = known.get(rung, (0, None))
        yield part, float(end), None, count, error
