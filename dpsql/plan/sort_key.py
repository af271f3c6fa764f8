"""The terms of ORDER BY."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.plan.expression import Expression


@dataclass(frozen=True, slots=True)
class SortKey:
    """One term of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool
