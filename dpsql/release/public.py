"""Opening rows that are nobody's secret: of public tables, or computed from released ones."""

from __future__ import annotations

import pyarrow as pa

from dpsql.engine.raw import Raw
from dpsql.plan.operator import Plan
from dpsql.stability.lineage import Visibility, visibility


def open_rows(plan: Plan, raw: Raw) -> pa.Table:
    """The rows of `plan`, which no private row is below but under a release."""
    if visibility(plan) is Visibility.PRIVATE:
        raise ValueError("the plan reads private rows")
    return raw.table
