"""The dashboards that are kept, as queries are answered of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.release.columns.arrow import rows
from dpsql.schema.model import Schema
from dpsql.session.answer.chart_reading import ReadableDashboard
from dpsql.session.saved.dashboard_law import DashboardContent, DashboardLaw
from dpsql.session.saved.saved_releases import SavedReleases
from dpsql.session.saved.saved_table import SavedTable


def readable_dashboards(
    saved: SavedReleases,
    schema: Schema,
    version: Callable[[], str],
    edition: Callable[[], str],
) -> Iterator[ReadableDashboard]:
    """Those of `version` of the data that the analyst may read for nothing.

    `version` is only asked for where there are dashboards, `edition` is what it is to them. Under
    another policy rows and keys may mean something else than they did, so that dashboards of before
    aren't among them; nor are those that a look at would be charged to the analyst's own cap.
    """
    for one in saved.all():
        law = one.metadata.law
        if not isinstance(law, DashboardLaw) or law.content is None:
            continue
        if one.metadata.version != version():
            continue
        if law.content.policy != schema.policy_hash or not saved.is_paid(one):
            continue
        read = partial(_table, saved, one, law.content)
        name = f"the dashboard {one.table.name}, for nothing"
        cells = partial(_cells, saved, one, law.content)
        yield ReadableDashboard(name, law, law.content, edition(), one.info.keys, cells, read)


def _table(saved: SavedReleases, one: SavedTable, content: DashboardContent) -> pa.Table:
    whole = saved.rows([one.table], charge=False)[one.table.engine_name]
    return whole.select([*content.keys, *content.values])


def _cells(saved: SavedReleases, one: SavedTable, content: DashboardContent) -> Sequence[Cell]:
    table = _table(saved, one, content)
    return rows(table.select(list(content.keys))) if content.keys else ((),) * table.num_rows
