"""Frames of window functions: which rows of a window are read for one of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dpsql.plan.expression import Literal


class FrameKind(Enum):
    """What a frame counts: rows, groups of rows that tie, or how far keys are apart."""

    ROWS = "ROWS"
    GROUPS = "GROUPS"
    RANGE = "RANGE"


@dataclass(frozen=True, slots=True)
class RangeOffset:
    """An end of a RANGE: keys at most `distance` before or after the current row's."""

    distance: Literal
    following: bool


FrameEnd = int | RangeOffset | None
"""Rows or groups relative to the current one (0: that itself), a distance, or no end at all."""


class FrameExclusion(Enum):
    """Which rows of a frame aren't read: the current one, all that tie with it, or only those."""

    CURRENT_ROW = "CURRENT ROW"
    GROUP = "GROUP"
    TIES = "TIES"


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a window that are read for one of them."""

    kind: FrameKind
    first: FrameEnd
    last: FrameEnd
    excluded: FrameExclusion | None

    @property
    def has_distance(self) -> bool:
        """A key is added to, which may overflow."""
        return isinstance(self.first, RangeOffset) or isinstance(self.last, RangeOffset)
