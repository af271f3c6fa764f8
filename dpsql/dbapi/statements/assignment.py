"""The settings by their names, and a change of one of them, as it is written."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from dpsql.errors import BadParameter, Span
from dpsql.sqltext.tokens import Word


class Setting(Enum):
    """What SHOW tells, and SET changes: all but `READ_ONLY`."""

    BUDGET = "budget"
    QUERIES = "queries"
    RELEASES = "releases"
    EPSILON = "epsilon"
    GROUPS = "groups"
    ROWS_PER_GROUP = "rows_per_group"
    ROWS = "rows"
    UNIT_SUM = "unit_sum"
    OVER_GROUPS = "over_groups"
    MIN_UNITS = "min_units"
    NONNEGATIVE = "nonnegative"
    WEIGHTED_KEYS = "weighted_keys"
    REUSE = "reuse"
    CONSISTENT = "consistent"
    CLAMPED = "clamped"
    MAX_ERROR = "max_error"
    MAX_COST = "max_cost"


READ_ONLY = frozenset({Setting.BUDGET, Setting.QUERIES, Setting.RELEASES})
"""What the ledger says, and nobody sets."""


class Assignment(Struct, frozen=True):
    """`value` as it is written, None for DEFAULT; `at` is its place."""

    setting: Setting
    value: str | None
    at: Span


def assigned(setting: Setting, name: Word, value: Word) -> Assignment:
    """The setting to which `value` is assigned; BadParameter for one that nobody can set."""
    if setting in READ_ONLY:
        raise BadParameter(
            f"dpsql.{setting.value} can't be set",
            at=name.span,
            hint="budgets are their owner's to set, in the schema",
        )
    if value.folded == "default":
        return Assignment(setting, None, value.span)
    return Assignment(setting, value.value, value.span)
