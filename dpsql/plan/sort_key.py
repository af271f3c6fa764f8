"""The terms of ORDER BY."""

from __future__ import annotations

from msgspec import Struct

from dpsql.plan.expression import Expression


class SortKey(Struct, frozen=True):
    """One term of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool
