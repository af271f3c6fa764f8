"""Frames of window functions: the rows of a partition that a function reads for each row."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from dpsql.plan.expression import Literal


class FrameKind(Enum):
    """The unit of a frame's ends: rows, groups of rows that tie, or distances of keys."""

    ROWS = "ROWS"
    GROUPS = "GROUPS"
    RANGE = "RANGE"


class RangeOffset(Struct, frozen=True):
    """An end of a RANGE: keys at most `distance` before or, if `following`, after the row's."""

    distance: Literal
    following: bool


FrameEnd = int | RangeOffset | None
"""Rows or groups after the current one (0: that itself), a distance, or None for no end."""


class FrameExclusion(Enum):
    """The rows of a frame that aren't read: the current one, all that tie with it, or only ties."""

    CURRENT_ROW = "CURRENT ROW"
    GROUP = "GROUP"
    TIES = "TIES"


class Frame(Struct, frozen=True):
    """The rows of a partition that a window function reads for each row."""

    kind: FrameKind
    first: FrameEnd
    last: FrameEnd
    excluded: FrameExclusion | None

    @property
    def has_distance(self) -> bool:
        """An end of the frame is a key plus a distance, which may overflow."""
        return isinstance(self.first, RangeOffset) or isinstance(self.last, RangeOffset)
