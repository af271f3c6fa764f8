"""The third stage, released tables → an answer, with what it cost and how noisy it is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, assert_never

import pyarrow as pa

from dpsql.schema.model import Schema, Table
from dpsql.session.answer.answer import Answer, AnswerDetails, ColumnPrivacy, Cost, Privacy
from dpsql.session.answer.chart_reading import ChartReading
from dpsql.session.answer.column_errors import PrivacyReader, Rolled
from dpsql.session.answer.dashboard_errors import dashboard_columns
from dpsql.session.answer.default_limits import default_limit_notes
from dpsql.session.answer.distinct_range import (
    DistinctRange,
    clamp_notes,
    clamped_tables,
    distinct_ranges,
)
from dpsql.session.answer.rollup import RollUp
from dpsql.session.answer.row_errors import ErrorReader, error_notes
from dpsql.session.answer.undeclared_values import undeclared_value_notes
from dpsql.session.answer.unlisted_keys import unlisted_key_notes
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.run.charge_and_run import AnsweredBefore, Released, ReleasedTables
from dpsql.session.run.uncharged_failure import telling_no_charge
from dpsql.structs import field_names

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


def build_answer(
    context: SessionContext, compiled: CompiledStatement, released: Released
) -> Answer:
    """The answer of `compiled`: what stands above its releases is computed of `released`."""
    match released:
        case AnsweredBefore(answer=answer):
            return answer
        case ReleasedTables(tables=tables) if not compiled.releases:
            rows = context.execution.public(compiled, tables)
            return _answer(compiled, context, rows, released, {})
        case ReleasedTables(tables=tables, stored=stored, rolled=rolled):
            context.progress("finishing the answer")
            consistent = compiled.consistency.without(rolled).tables(tables)
            ranges = distinct_ranges(compiled)
            shown_tables = clamped_tables(ranges, consistent)
            with telling_no_charge() if released.receipt is None else nullcontext():
                rows = context.execution.finish(compiled, compiled.finishing_tables(shown_tables))
            answer = _answer(compiled, context, rows, released, consistent, ranges)
            if not rolled and not compiled.saved_tables:
                context.answers.add(compiled, answer, stored)
            return answer
        case missing:
            assert_never(missing)


def _answer(
    compiled: CompiledStatement,
    context: SessionContext,
    rows: pa.Table,
    released: ReleasedTables,
    tables: Mapping[str, pa.Table],
    ranges: tuple[DistinctRange, ...] = (),
) -> Answer:
    """The answer whose rows are `rows`, its columns named by their ids, made of `tables`.

    Of these, values are shown within `ranges`.
    """
    columns, rolled = compiled.statement.columns, released.rolled
    ordered = rows.select([f"c{c.id}" for c in columns])
    reader = PrivacyReader(compiled, rolled)
    errors = ErrorReader(compiled, reader, rows, tables, rolled)
    # Not the context: who is given the answer again may outlive the session that was given it.
    schema, law_of = context.schema, context.saved.law if compiled.saved_tables else _no_law

    def describe() -> AnswerDetails:
        clamped = errors.clamped()
        notes = (
            *unlisted_key_notes(compiled.releases, tables),
            *error_notes(errors, clamped, ordered),
            *clamp_notes(ranges, tables),
        )
        cost = _cost(compiled, schema, released, notes)

        def privacy() -> Privacy:
            shown = dashboard_columns(compiled, law_of, reader.answer_columns())
            return _privacy(compiled, released, reader, cost, shown)

        return AnswerDetails(cost, cache(privacy), clamped)

    details = cache(describe)
    column_errors = cache(lambda: errors.errors(details().privacy.shown_columns))
    if compiled.saved_tables:
        # Their laws are those of now: they may be dropped, or replaced.
        details().describe()
    keys = tuple(dict.fromkeys(k for r in compiled.releases for k in _keys(r, rolled)))
    # Names may repeat; only the plan's columns are told apart, so they go beside the table.
    types = tuple(c.type for c in columns)
    names = compiled.statement.names
    return Answer(ordered, names, types, details, column_errors, keys)


def _no_law(_: Table) -> None:
    """Of a statement that reads no kept table none has a law."""


def _cost(
    compiled: CompiledStatement, schema: Schema, released: ReleasedTables, notes: tuple[str, ...]
) -> Cost:
    """What the answer of `compiled` cost; `notes` are what its values say."""
    loss, rolled = released.loss, released.rolled
    return Cost(
        loss=loss,
        epsilon=epsilon_of(schema, loss.amount if loss else Fraction(0)),
        stored=bool(compiled.releases) and released.receipt is None,
        summed=max((way.cells for way in rolled.values() if isinstance(way, RollUp)), default=0),
        is_noisy=any(release.step.bounded.outputs for release in compiled.releases),
        notes=(
            *dict.fromkeys(w.note for w in rolled.values() if isinstance(w, ChartReading)),
            *compiled.consistency.without(rolled).notes,
            *undeclared_value_notes(compiled.plan),
            *default_limit_notes(compiled.releases),
            *dict.fromkeys(note for r in compiled.releases for note in r.limit_notes),
            *notes,
        ),
    )


def _privacy(
    compiled: CompiledStatement,
    released: ReleasedTables,
    reader: PrivacyReader,
    cost: Cost,
    shown: tuple[ColumnPrivacy | None, ...],
) -> Privacy:
    """What the answer of `compiled` cost, and how its columns, `shown` so, are made."""
    return Privacy(
        **{name: getattr(cost, name) for name in field_names(Cost)},
        columns=reader.released_columns(),
        thresholds=tuple(
            units for r in compiled.releases if (units := r.threshold_in_units) is not None
        ),
        receipt=None if released.receipt is None else str(released.receipt.receipt_id),
        shown_columns=shown,
    )


def _keys(release: CompiledRelease, rolled: Rolled) -> tuple[str, ...]:
    """The keys of the stored answers that `release` is of."""
    match rolled.get(release.name):
        case ChartReading(dashboard=dashboard):
            return dashboard.keys
        case RollUp(source=source):
            return (source.key,)
        case None:
            return (release.key,) if release.step.measurement.loss.amount else ()
        case missing:
            assert_never(missing)
