"""Statements of a batch that are planned as one: counts and sums of the same rows, by listed keys.

    SELECT sex, count(*) FROM patients GROUP BY sex
    SELECT ward, sex, count(*) FROM patients GROUP BY ward, sex
asked together, are the charts of a dashboard: measured at the loss that both would have cost one by
one, at the least variance (`release.dashboard`), and each answered of that, in its own shape.

It takes the place of noise of each statement's own where no value becomes noisier by it, and some
less, which the law of the noise alone decides: a statement of which some value would become noisier
is left out, as may be one of a count and a sum, whose noise has a part in common alone. And where a
unit has one row, since limits of the finest cells would leave out other rows than those of each
statement's groups. Rows whose keys are outside of what is declared are in none of the answers,
whether they show that key or not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct

from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.bind.statements.create_dashboard import MAX_CHARTS, BareChart, bare_chart
from dpsql.bounding.options import ALL_GROUPS, AS_DECLARED
from dpsql.errors import Error, InternalError
from dpsql.privacy.accounting.loss import Accounting
from dpsql.session.answer.chart_reading import (
    ChartReading,
    ReadableDashboard,
    chart_reading,
    dashboard_of,
)
from dpsql.session.answer.column_errors import column_privacy
from dpsql.session.answer.stored_answer import from_bytes
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.request import DashboardRequest, Request
from dpsql.session.digest.sum_digest import sum_digests
from dpsql.session.run.pending_releases import look_up
from dpsql.session.saved.dashboard_law import dashboard_law
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext


class Family(Struct, frozen=True):
    """Statements of a batch, by their indices, that are read of the `dashboard` of `compiled`.

    `gain` is how many times less noise moves their values, in the geometric mean, than if each was
    asked alone.
    """

    dashboard: ReadableDashboard
    compiled: CompiledStatement
    members: tuple[int, ...]
    gain: float

    @property
    def note(self) -> str:
        """What is said of it beside the answers."""
        return (
            f"{len(self.members)} statements are planned as one: in the mean, noise moves their"
            f" values {self.gain:.3g} times less than if they were asked one by one"
        )


class Families(Struct, frozen=True):
    """What of a batch is planned as one, and which statements of the same rows are left out.

    `noisier` has how many times as far noise would move some value of these, by their indices.
    """

    planned: tuple[Family, ...]
    noisier: Mapping[int, float]

    def notes(self, index: int) -> tuple[str, ...]:
        """Why the statement at `index` isn't planned with others; nothing where it is."""
        if not math.isfinite(self.noisier.get(index, math.inf)):
            return ()  # or one of a value whose error isn't known beforehand
        moved = f"noise would move some value {self.noisier[index]:.3g} times as far"
        return (f"asked alone: together with statements of the same rows, {moved}",)


MAX_ROUNDS: Final = 8
"""So often at most statements are planned as one, each time without one that would be noisier."""

Compile: TypeAlias = Callable[[str, Request], CompiledStatement]
"""Text → what is decided before the charge, with the options of a batch."""


def due_families(
    context: SessionContext,
    written: Sequence[str],
    statements: Sequence[CompiledStatement],
    compiled: Compile,
) -> Families:
    """The families of what is due of `statements`: neither stored nor free otherwise."""
    due = [bool(look_up(context, one).unpaid) for one in statements]
    texts = [sql if is_due else "" for sql, is_due in zip(written, due, strict=True)]
    return families(context, texts, statements, compiled)


def families(
    context: SessionContext,
    written: Sequence[str],
    statements: Sequence[CompiledStatement],
    compiled: Compile,
) -> Families:
    """Those of `statements`, as `written`, that are better planned as one, under zcdp and gdp.

    An empty text is of what isn't due.
    """
    if context.schema.budget.accounting not in (Accounting.ZCDP, Accounting.GDP):
        return Families((), {})
    by_rows: dict[str, dict[int, BareChart]] = defaultdict(dict)
    for index, (sql, one) in enumerate(zip(written, statements, strict=True)):
        chart = bare_chart(sql) if _may_be_planned(one) else None
        if chart is not None:
            by_rows[chart.rows][index] = chart
    planned: list[Family] = []
    noisier: dict[int, float] = {}
    for charts in by_rows.values():
        for _ in range(MAX_ROUNDS):
            family = _family(context, charts, statements, compiled)
            if isinstance(family, Family):
                planned.append(family)
            if not isinstance(family, _Noisier):
                break
            noisier[family.index] = family.times
            del charts[family.index]
    return Families(tuple(planned), noisier)


class _Noisier(Struct, frozen=True):
    """The statement at `index` has the value that noise would move the most `times` as far."""

    index: int
    times: float


def _may_be_planned(statement: CompiledStatement) -> bool:
    """It is of one release of sums by listed keys, of rows of which each unit has one.

    And nothing is set for it.
    """
    options = statement.options
    if (
        len(statement.releases) != 1
        or statement.saved_tables
        or options.price.max_error is not None
        or replace(options.limits, norm_order=None) != AS_DECLARED
        or options.release != ALL_GROUPS
    ):
        return False
    step = statement.releases[0].step
    return (
        bool(step.measurement.loss.amount)
        and step.bounded.shows_all_cells
        and not step.reads
        and one_row_per_unit(step.bounded.contributions.source, declared)
        and None not in sum_digests(step.bounded).values
    )


def _family(
    context: SessionContext,
    charts: Mapping[int, BareChart],
    statements: Sequence[CompiledStatement],
    compiled: Compile,
) -> Family | _Noisier | None:
    """`charts`, by the indices of their statements, as one; None if that isn't better."""
    members = {index: statements[index] for index in charts}
    distinct = {one.releases[0].key: index for index, one in members.items()}
    if not 1 < len(distinct) <= MAX_CHARTS:
        return None
    first = members[min(members)]
    if first.options.epsilon is None:
        raise InternalError("a statement of a batch has an epsilon")
    sql = ";\n".join(charts[index].sql for index in distinct.values())
    try:
        whole = compiled(sql, DashboardRequest(first.options.epsilon, len(distinct)))
    except Error:
        # One of them is no chart after all, or all have too many cells: asked one by one, then.
        return None
    law = dashboard_law(whole, context.schema.policy_hash)
    if law is None:
        return None
    dashboard = dashboard_of(
        "what a batch was planned as", whole, law, partial(_table, context, whole)
    )
    # Who asks for more than each of these did asks for something else.
    content = replace(dashboard.content, granted=first.query_loss.amount)
    dashboard = replace(dashboard, content=content)
    ratios: dict[int, list[float]] = {}
    for index, one in members.items():
        reading = chart_reading(one.releases[0], dashboard)
        if reading is None:
            return None
        ratios[index] = _ratios(one, reading)
    noisiest = max(ratios, key=lambda index: max(ratios[index]))
    if max(ratios[noisiest]) > 1:
        return _Noisier(noisiest, max(ratios[noisiest]))
    every = [ratio for own in ratios.values() for ratio in own]
    if min(every) == 1:
        return None
    gain = math.exp(-math.fsum(map(math.log, every)) / len(every))
    return Family(dashboard, whole, tuple(members), gain)


def _ratios(compiled: CompiledStatement, reading: ChartReading) -> list[float]:
    """How far noise moves each value, over how far it would alone."""
    pairs = zip(column_privacy(compiled), reading.columns, strict=True)
    widths = [(alone.half_width, own.half_width) for alone, own in pairs]
    return [own / alone if alone and own else math.inf for alone, own in widths]


def _table(context: SessionContext, whole: CompiledStatement) -> pa.Table:
    (release,) = whole.releases
    (answer,) = context.ledger.read([release.key])
    return from_bytes(answer, release.columns)
