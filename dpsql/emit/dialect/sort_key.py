"""Terms of ORDER BY."""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import scalar
from dpsql.plan.sort_key import SortKey


def sort_key(key: SortKey) -> exp.Ordered:
    """One term of ORDER BY."""
    return exp.Ordered(
        this=scalar(key.expression), desc=key.descending, nulls_first=key.nulls_first
    )
