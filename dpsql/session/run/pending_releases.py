"""What of a statement has to be charged and drawn, and what is stored or free already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.session.answer.chart_reading import ChartReading, chart_readings
from dpsql.session.answer.column_errors import FreeWay, below_max_error
from dpsql.session.answer.rollup import RollUp
from dpsql.session.answer.stored_answer import from_bytes
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


class Coverage(Struct, frozen=True):
    """What the ledger has of a statement: the names of releases that are `stored`.

    `free` are ways in which others follow of what is stored, by their names; `unpaid` is what has
    noise, and is neither.
    """

    stored: frozenset[str]
    free: Mapping[str, FreeWay]
    unpaid: Sequence[CompiledRelease]


class PendingReleases(Struct, frozen=True):
    """What is due of one statement, and the tables that it may read: answers given before.

    `stored` are the bytes that the ledger has of them, by their keys.
    """

    due: Sequence[CompiledRelease]
    tables: Mapping[str, pa.Table]
    stored: Mapping[str, bytes]


def unique_releases(due: Iterable[Sequence[CompiledRelease]]) -> list[CompiledRelease]:
    """What is drawn: what two statements ask for, or one does twice, is one release."""
    return list({release.key: release for releases in due for release in releases}.values())


def loss_one_by_one(due: Sequence[CompiledRelease]) -> PrivacyLoss:
    """What `due`, of which there is at least one, costs one by one."""
    losses = [release.step.measurement.loss for release in due]
    return sum(losses[1:], losses[0])


def look_up(context: SessionContext, compiled: CompiledStatement) -> Coverage:
    """What of `compiled` is stored, and what follows of what is, for nothing.

    Of dashboards that the analyst may read, or else of what this session was given.
    """
    ledger = context.ledger.open()
    answers, are_saved = ledger.look_up([release.key for release in compiled.releases])
    stored = frozenset(r.name for r in compiled.releases if r.key in answers)
    missing = [r for r in compiled.releases if r.key not in answers]
    noisy = [release for release in missing if release.step.measurement.loss.amount]
    rolled = context.sources.roll_ups(compiled, missing)
    dashboards = context.readable_dashboards() if are_saved else context.dashboards
    charts = chart_readings(compiled, noisy, dashboards)
    free = below_max_error({**rolled, **charts}, compiled.options.price.max_error)
    return Coverage(stored, free, [release for release in noisy if release.name not in free])


def pending_releases(
    context: SessionContext, compiled: CompiledStatement, coverage: Coverage
) -> PendingReleases:
    """What is due of `compiled`, of which the ledger has `coverage`.

    What is stored is read, for which the analyst's own cap may pay, and what has no noise is run.
    What stands above the releases is tried before, if anything is due: a failure costs nothing.
    """
    rolled, due = coverage.free, coverage.unpaid
    direct = [r for r in compiled.releases if r.name not in rolled]
    stored = [r for r in direct if r.name in coverage.stored]
    others = [r for r in direct if r.name not in coverage.stored]
    if due:
        context.execution.check(compiled)
    summed = [way for way in rolled.values() if isinstance(way, RollUp)]
    read = [*stored, *(way.source for way in summed)]
    answers = context.ledger.read([r.key for r in read])
    read_tables = [from_bytes(a, r.columns) for r, a in zip(read, answers, strict=True)]
    tables = context.saved.rows(compiled.saved_tables, charge=True)
    tables |= {r.name: table for r, table in zip(stored, read_tables, strict=False)}
    for way, table in zip(summed, read_tables[len(stored) :], strict=True):
        tables[way.target.name] = way.table(table)
    charts = (way for way in rolled.values() if isinstance(way, ChartReading))
    tables |= {way.target.name: way.released() for way in charts}
    tables |= run_releases(context, [r for r in others if r not in due], tables)
    context.sources.add(compiled, stored)
    return PendingReleases(due, tables, {r.key: a for r, a in zip(read, answers, strict=True)})


def run_releases(
    context: SessionContext, releases: Sequence[CompiledRelease], tables: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The released tables of `releases` by name; those of `tables` that they name may be read."""
    steps = tuple(release.step for release in releases)
    if not steps:
        return {}
    read = {name: tables[name] for step in steps for name in step.reads if name in tables}
    return context.execution.run(steps, context.randomness, read)
